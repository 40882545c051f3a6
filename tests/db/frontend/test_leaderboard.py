"""The board: who is compared with whom, and what is never compared."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from benchmark.models import Run, RunState, Trust
from frontend.board import Cell, Filters, Group, Row, board
from frontend.published.loading import published_load
from grading.models import SubmissionState, TaskStanding
from tests.support.rows import baseline_row, evaluation_row, graded_row, run_row, submission_row, verdict_row

pytestmark = pytest.mark.django_db
FREE = {"mode": "free", "state": RunState.FINISHED}


def scored(agent: str, score: float, error: float | None = 1.0, **values: Any) -> Run:
    run = run_row(agent=agent, **FREE | values)
    graded_row(run, score)
    TaskStanding.objects.filter(run=run).update(best_error=error)
    return run


def with_baseline(run: Run, score: float) -> Run:
    TaskStanding.objects.filter(run=run).update(baseline=score)
    return run


def only() -> Group:
    (panel,) = board()
    (group,) = panel.groups
    return group


def rows() -> dict[str, Row]:
    return {row.stack.agent: row for row in only().rows}


def cell(agent: str) -> Cell:
    return rows()[agent].cells[0]


def test_zero_is_ranked_and_unscored_is_not_but_says_why() -> None:
    scored("nothing-earned", 0.0)
    refused = run_row(agent="refused", **FREE)
    submission_row(refused, state=SubmissionState.REJECTED, verdict=verdict_row(refused, None), ended_at=timezone.now())
    run_row(agent="silent", **FREE)
    run_row(agent="broken", mode="free", state=RunState.FAILED)
    run_row(agent="under-way", mode="free")
    found = rows()
    assert (str(found["nothing-earned"].band), found["nothing-earned"].cells[0].score) == ("1", 0.0)
    for agent, reason in (
        ("refused", "rejected"), ("silent", "no submission"), ("broken", "failed"), ("under-way", "running"),
    ):  # fmt: skip
        assert (found[agent].band, found[agent].cells[0].score) == (None, None)
        assert found[agent].cells[0].reason == reason


def test_one_run_has_no_interval_and_several_have_theirs_with_n() -> None:
    alone = scored("alone", 20.0)
    for score in (20.0, 30.0, 25.0):
        scored("three", score)
    assert (cell("alone").score, cell("alone").interval, cell("alone").slug) == (20.0, None, alone.slug)
    three = cell("three")
    assert (three.score, three.runs, three.highest, three.slug) == (25.0, 3, 30.0, "")
    assert three.interval is not None
    assert 20.0 <= three.interval.low < 25.0 < three.interval.high <= 30.0
    assert three.interval.n == 3
    assert three.deviation == pytest.approx(5.0)
    assert three.error == pytest.approx(3**0.5 / 3)


def test_a_run_without_a_score_is_told_and_never_averaged_as_zero() -> None:
    scored("one", 40.0)
    run_row(agent="one", **FREE)
    assert (cell("one").score, cell("one").runs, len(cell("one").values)) == (40.0, 2, 1)


def test_rows_that_cannot_be_told_apart_share_a_band_and_ties_the_star() -> None:
    for agent, score in (("a", 60.0), ("b", 60.0), ("c", 59.0), ("d", 10.0)):
        scored(agent, score)
    found = rows()
    assert {agent: str(row.band) for agent, row in found.items()} == {"a": "1–3", "b": "1–3", "c": "1–3", "d": "4"}
    assert [agent for agent, row in found.items() if row.cells[0].best] == ["a", "b"]


def test_a_gain_below_the_scores_standard_error_is_marked() -> None:
    with_baseline(scored("small", 52.0, error=2.5), 50.0)
    with_baseline(scored("large", 55.0, error=2.5), 50.0)
    assert (cell("small").gain, cell("small").approx) == (2.0, True)
    assert (cell("large").gain, cell("large").approx) == (5.0, False)


def test_a_stack_without_a_score_in_every_column_is_not_ranked() -> None:
    scored("both", 50.0, task="gsm8k", protocol="gsm8k/1")
    group = only()
    assert [column.task for column in group.columns][:2] == ["gsm8k", "humaneval"]
    assert len(group.columns) == 6
    row = group.rows[0]
    assert (row.band, row.mean_gain, row.scored) == (None, None, 1)
    assert {c.reason for c in row.cells} == {"", "not run"}


def test_protocols_are_never_compared() -> None:
    scored("old", 90.0, protocol="arithmetic/1")
    scored("new", 50.0, protocol="arithmetic/2")
    (panel,) = board()
    assert [(g.protocol_names, [str(r.band) for r in g.rows]) for g in panel.groups] == [
        (["arithmetic/2"], ["1"]),
        (["arithmetic/1"], ["1"]),
    ]


def test_limited_protocols_are_never_ranked() -> None:
    scored("one", 50.0)
    scored("one", 90.0, protocol="arithmetic/1;limit=20")
    (panel,) = board()
    assert [row.cells[0].score for row in panel.groups[0].rows] == [50.0]
    assert [(item.cell.protocol, item.cell.score) for item in panel.unranked] == [("arithmetic/1;limit=20", 90.0)]


def test_budgets_are_rows_of_their_own() -> None:
    scored("one", 50.0, budget_s=3600)
    scored("one", 90.0, budget_s=43200)
    assert [(row.stack.budget_s, row.cells[0].score) for row in only().rows] == [(43200, 90.0), (3600, 50.0)]


def test_base_models_are_panels_of_their_own_also_under_one_name() -> None:
    scored("one", 50.0, base_model="tiny", base_digest="a" * 64)
    scored("one", 60.0, base_model="tiny", base_digest="c" * 64)
    scored("one", 70.0, base_model="other", base_digest="d" * 64)
    run_row(agent="one", mode="free", state=RunState.QUEUED, base_digest="", base_model="tiny")
    panels = board()
    assert [(panel.base_model, panel.digest) for panel in panels] == [
        ("tiny", "c" * 8),
        ("other", ""),
        ("tiny", "a" * 8),
    ]
    assert panels[0].groups[0].rows[0].cells[0].runs == 2


def test_published_rows_stand_apart_from_ours() -> None:
    published_load()
    with_baseline(scored("one", 90.0, base_model="Qwen/Qwen3-8B-Base", task="gsm8k", protocol="gsm8k/1"), 84.0)
    panels = {panel.base_model: panel for panel in board()}
    assert list(panels) == ["Qwen/Qwen3-8B-Base", "Qwen2.5-7B-Instruct"]
    ours, published = panels["Qwen/Qwen3-8B-Base"].groups
    assert (ours.kind, published.kind) == ("here", "published")
    assert [group.baselines[0].score for group in (ours, published)] == [84.0, 83.02]
    assert [row.stack.agent for row in ours.rows] == ["one"]
    assert all(row.stack.table for row in published.rows)
    assert board(Filters(origin=("local",)))[0].groups == (ours,)


def test_the_published_boards_are_the_papers() -> None:
    published_load()
    panels = {panel.base_model: panel for panel in board()}
    (seven,) = panels["Qwen2.5-7B-Instruct"].groups
    assert [(row.stack.mode, row.stack.table, str(row.band)) for row in seven.rows] == [
        ("free", "3", "1–2"),
        ("rl-oriented", "3", "1–2"),
        ("sft-only", "3", "3"),
        ("multi", "3", "4–5"),
        ("free", "2A", "4–5"),
        ("free", "2A", "6"),
    ]
    (pick,) = seven.picks
    assert [round(c.gain or 0.0, 2) for c in pick.cells] == [7.36, 6.1, 11.86, 90.67, 15.0, 3.25]
    assert pick.band is None
    (eight,) = panels["Qwen3-8B-Base"].groups
    twice = [row for row in eight.rows if row.notes]
    assert [(row.stack.table, row.cells[0].score) for row in twice] == [("16", 88.78), ("15", 74.0)]
    told = "The paper prints two GSM8K scores for this stack: 74.00 in table 15 and 88.78 in table 16. Both rows stay."
    assert eight.notes == ((1, told),)


def test_a_flagged_score_shows_raw_final_and_reason() -> None:
    held, cut = scored("held", 93.71, origin="external", trust="flagged"), scored("cut", 80.0)
    TaskStanding.objects.filter(run=held).update(flag_reason="closer to the instruct model")
    TaskStanding.objects.filter(run=cut).update(flag_reason="one shard was repeated", final=70.0)
    assert (cell("held").score, cell("held").reason, cell("held").flags[0].raw) == (None, "withheld", 93.71)
    assert (cell("cut").score, cell("cut").flags[0].raw, cell("cut").flags[0].final) == (70.0, 80.0, 70.0)
    page = Client().get("/").content.decode()
    assert "<s>93.71</s>" in page
    assert "raw score 93.71, final score withheld: closer to the instruct model" in page
    assert "raw score 80.00, final score 70.00: one shard was repeated" in page


def test_hidden_runs_stand_nowhere(operator: Client) -> None:
    hidden = scored("secret", 99.0, hidden=True)
    assert board() == []
    for path in ("/", "/runs/", "/tasks/arithmetic/", "/leaderboard.csv", "/leaderboard.json"):
        assert hidden.slug not in operator.get(path).content.decode()
        assert "secret" not in operator.get(path).content.decode()


def test_a_hidden_run_is_listed_for_its_owner_and_for_moderators_alone(anonymous: Client, stranger: Client) -> None:
    owner, moderator = User.objects.create_user("owner"), User.objects.create_user("moderator")
    moderator.user_permissions.add(Permission.objects.get(codename="moderate_run"))
    hidden = scored("secret", 99.0, hidden=True, created_by=owner)
    for user, sees in ((owner, True), (moderator, True)):
        client = Client()
        client.force_login(user)
        assert (hidden.slug in client.get("/runs/").content.decode()) == sees
        assert hidden.slug not in client.get("/").content.decode()
    for client in (anonymous, stranger):
        assert hidden.slug not in client.get("/runs/").content.decode()
        assert "No run matches" in client.get("/runs/?agent=secret").content.decode()


def test_an_interval_of_gains_is_over_the_baseline() -> None:
    for score in (40.0, 50.0):
        with_baseline(scored("two", score), 30.0)
    assert "2 runs, 40.0–50.0" in Client().get("/").content.decode()
    assert "2 runs, +10.00 to +20.00" in Client().get("/?cols=gain").content.decode()


def test_scores_that_are_no_numbers_are_not_scored() -> None:
    run = scored("odd", 50.0)
    TaskStanding.objects.filter(run=run).update(best=float("inf"), baseline=float("inf"))
    assert (cell("odd").score, cell("odd").baseline) == (None, None)
    assert Client().get("/").status_code == 200
    assert "Infinity" not in Client().get("/leaderboard.json").content.decode()


def test_queries_do_not_grow_with_the_runs(django_assert_max_num_queries: Any) -> None:
    for number in range(12):
        scored(f"agent-{number}", number)
    run_row(agent="unscored")
    with django_assert_max_num_queries(3):
        board()
    with django_assert_max_num_queries(8):
        Client().get("/")


def test_trust_and_origin_are_badges_and_filters() -> None:
    for trust in Trust.values:
        scored(f"outside-{trust}", 50.0, origin="external", trust=trust)
    scored("ours", 50.0)

    def agents(**values: Any) -> set[str]:
        return {row.stack.agent for panel in board(Filters(**values)) for g in panel.groups for row in g.rows}

    assert agents(trust="reviewed") == {"outside-reviewed", "outside-regraded", "ours"}
    assert agents(origin=("external",)) == {f"outside-{trust}" for trust in Trust.values}
    page = Client().get("/").content.decode()
    assert '<span class="trust claimed">claimed</span>' in page
    assert '<span class="trust regraded">graded here</span>' in page


def test_everybody_reads_the_page(anyone: Client) -> None:
    run = with_baseline(scored("claude-code", 65.2), 10.2)
    scored("codex", 9.0)
    page = anyone.get("/").content.decode()
    assert f'href="/runs/{run.slug}/"' in page
    assert "+55.00" in page
    assert "The largest gain is +55.00" in page
    assert 'property="og:title"' in page


def test_the_empty_page_says_how_to_start(anonymous: Client, operator: Client) -> None:
    assert "make demo" in anonymous.get("/").content.decode()
    assert 'href="/runs/new"' in operator.get("/").content.decode()
    assert 'href="/runs/new"' not in anonymous.get("/").content.decode()


def test_runs_in_progress_are_listed_and_renewed_by_a_piece(anonymous: Client) -> None:
    run, ended = run_row(), run_row(state=RunState.FINISHED)
    for path in ("/", "/runs/active/"):
        text = anonymous.get(path).content.decode().split('id="active"')[1].split("</table>")[0]
        assert run.slug in text
        assert ended.slug not in text


def test_a_page_made_before_shows_what_changed_since(anonymous: Client) -> None:
    run = scored("a", 40.0)
    scored("b", 60.0)
    before = anonymous.get("/").content.decode()
    assert before == anonymous.get("/").content.decode()
    graded_row(run, 71.25)
    assert "71.25" in anonymous.get("/").content.decode()
    with_baseline(run, 11.5)
    assert "11.50" in anonymous.get("/").content.decode()
    TaskStanding.objects.filter(run=run).update(flag_reason="Odd.", final=None)
    told = anonymous.get("/").content.decode()
    assert "withheld" in told
    Run.objects.filter(pk=run.pk).update(hidden=True)
    told = anonymous.get("/").content.decode()
    assert "withheld" not in told
    assert "60.00" in told


def test_hostile_names_are_escaped(anonymous: Client) -> None:
    scored("<script>alert(1)</script>", 5.0, driver="<img src=x>", base_model="<b>base</b>", task="<i>task</i>")
    run_row(agent="<script>alert(2)</script>", protocol="<u>p</u>")
    for path in ("/", "/runs/", "/tasks/arithmetic/"):
        page = anonymous.get(path).content.decode()
        for text in ("<script>alert", "<img src=x>", "<b>base", "<i>task", "<u>p"):
            assert text not in page
    assert "&lt;script&gt;alert(1)" in anonymous.get("/").content.decode()


def test_the_same_rows_as_files() -> None:
    published_load()
    csv = Client().get("/leaderboard.csv?base=Qwen3-8B-Base").content.decode().splitlines()
    assert len(csv) == 1 + 36
    told = Client().get("/leaderboard.json?base=Qwen3-8B-Base&level=L3").json()
    assert told["filters"] == {"base": ["Qwen3-8B-Base"], "level": ["L3"]}
    assert len(told["rows"]) == 18
    assert {row["table"] for row in told["rows"]} == {"15", "16"}
    assert r"\begin{tabular}" in Client().get("/leaderboard.tex").content.decode()


def test_baselines_of_one_group_come_from_the_newest_run() -> None:
    one = scored("one", 65.2, created_at=timezone.now() - timedelta(days=1))
    baseline_row(one, 10.2)
    two = scored("two", 65.2)
    evaluation_row(two, "e" * 64)
    with_baseline(two, 11.0)
    assert only().baselines[0].score == 11.0
    assert {row.stack.agent: row.cells[0].baseline for row in only().rows} == {"one": 10.2, "two": 11.0}
