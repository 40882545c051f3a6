"""Everything the address can say to the board, the runs and the task pages; and what it cannot."""

import pytest
from django.http import QueryDict
from django.test import Client

from benchmark.models import RunState
from frontend.bad_query import BadQuery
from frontend.board import Filters, board
from frontend.published.loading import published_load
from tests.support.rows import graded_row, run_row

pytestmark = pytest.mark.django_db
BAD = [
    ("level", "L9"),
    ("mode", "anything"),
    ("origin", "elsewhere"),
    ("trust", "flagged"),
    ("budget", "12"),
    ("budget", "99999999999h"),
    ("budget", "9999999h"),
    ("from", "yesterday"),
    ("from", "2026-13-01"),
    ("to", "9999-12-31"),
    ("to", "0001-01-01"),
    ("cols", "everything"),
    ("hide", "rank"),
    ("sort", "nothing"),
    ("sort", "--mean"),
    ("sort", "' OR 1=1"),
    ("q", "x" * 500),
    ("q", "a b c d e f g h i j"),
    ("agent", "\x00"),
    ("driver", "a\nb"),
    ("nonsense", "1"),
    ("<script>", "1"),
]


@pytest.fixture
def published(db: None) -> None:
    published_load()


@pytest.mark.parametrize("path", ["/", "/runs/", "/tasks/gsm8k/", "/leaderboard.csv", "/leaderboard.json"])
@pytest.mark.parametrize(("name", "value"), BAD)
def test_nonsense_is_a_400_that_names_the_parameter(path: str, name: str, value: str) -> None:
    answer = Client().get(path, {name: value})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "<script>" not in page.replace('<script src="', "")
    if name != "<script>":
        assert f"<code>{name}</code>" in page


def test_too_many_filters_are_refused() -> None:
    for query in ("&".join(f"agent=a{n}" for n in range(10_000)), "&".join(f"agent=a{n}" for n in range(21))):
        assert Client().get(f"/?{query}").status_code == 400
    assert Client().get("/?trust=checked&trust=reviewed").status_code == 400


def test_a_day_after_the_other_is_refused() -> None:
    with pytest.raises(BadQuery) as told:
        Filters.read(QueryDict("from=2026-05-01&to=2026-04-01"))
    assert told.value.parameter == "from"


def test_an_address_is_read_back_as_it_is_written() -> None:
    query = "q=claude&level=L3&agent=a&agent=b&base=Qwen3-8B-Base&budget=12h&from=2026-04-01&sort=-mean&hide=runs"
    filters = Filters.read(QueryDict(query))
    assert Filters.read(QueryDict(filters.query)) == filters
    assert filters.without("agent", "a").count("agent=") == 1
    assert Filters.read(QueryDict(filters.with_sort("gsm8k"))).sort == "gsm8k"
    assert Filters.read(QueryDict("agent=&q=&from=")) == Filters()


def agents(query: str) -> list[str]:
    panels = board(Filters.read(QueryDict(query)))
    return [row.stack.title for panel in panels for group in panel.groups for row in group.rows]


def test_filters_leave_what_fits(published: None) -> None:
    run = run_row(agent="example", state=RunState.FINISHED)
    graded_row(run, 50.0)
    assert len(agents("")) == 13
    assert agents("origin=local") == ["example"] or agents("origin=local") == ["Example"]
    assert set(agents("q=codex cli")) == {"Codex CLI"}
    assert agents("q=gpt-5.4 qwen2.5") == ["OpenCode", "OpenHands"]
    assert len(agents("base=Qwen3-8B-Base")) == 6
    assert len(agents("mode=multi&mode=sft-only")) == 3
    assert len(agents("budget=12h")) == 12
    assert len(agents("protocol=paper")) == 12
    assert len(agents("to=2026-04-12")) == 12
    assert len(agents("from=2026-04-13")) == 1
    assert agents("trust=checked") == agents("origin=local")
    assert agents("agent=nobody") == []


def test_columns_follow_task_and_level(published: None) -> None:
    def columns(query: str) -> list[str]:
        return [column.task for column in board(Filters.read(QueryDict(query)))[0].columns]

    assert columns("level=L3") == ["alfworld", "webshop", "deepsearchqa"]
    assert columns("task=gsm8k&task=webshop") == ["gsm8k", "webshop"]


def test_sorting_keeps_the_ranks_and_puts_unscored_last(published: None) -> None:
    def told(query: str) -> list[tuple[str, str]]:
        (panel,) = board(Filters.read(QueryDict(f"base=Qwen2.5-7B-Instruct&{query}")))
        return [(row.stack.title, str(row.band)) for row in panel.groups[0].rows]

    assert told("sort=webshop")[0] == ("OpenHands", "6")
    assert told("sort=-deepsearchqa")[0] == ("OpenCode", "4–5")
    assert told("sort=-mean") == told("")
    run = run_row(agent="none", task="gsm8k", protocol="paper", base_model="Qwen2.5-7B-Instruct", origin="published")
    assert run.pk
    assert [title for title, _ in told("sort=gsm8k")][-1] == "none"
    assert [title for title, _ in told("sort=-gsm8k")][-1] == "none"


def test_what_is_chosen_stands_on_the_page_and_can_be_taken_back(published: None) -> None:
    page = Client().get("/?agent=claude-code&agent=codex-cli&level=L1&cols=gain&hide=runs").content.decode()
    assert 'href="/?level=L1&amp;agent=codex-cli&amp;cols=gain&amp;hide=runs"' in page
    assert "Link to this view" in page
    assert "AlpacaEval 2.0</a>" not in page
    empty = Client().get("/?agent=nobody").content.decode()
    assert "No run matches these filters" in empty
    assert "Agent: nobody" in empty


def test_a_cell_of_several_runs_opens_their_list() -> None:
    for score in (40.0, 50.0):
        graded_row(run_row(agent="one two", driver="d&e", state=RunState.FINISHED), score)
    page = Client().get("/").content.decode()
    assert "2 runs, 40.0–50.0" in page
    link = page.split('data-t="Arithmetic"')[2].split('href="')[1].split('"')[0].replace("&amp;", "&")
    assert link.startswith("/runs/?task=arithmetic&agent=one+two")
    listed = Client().get(link).content.decode()
    assert "2 results match" in listed
