"""Task pages: what is asked, how it is graded, who is how good, with both noises apart."""

from typing import Any

import pytest
from django.test import Client

from benchmark.models import RunState
from frontend.published import designs
from frontend.published.loading import published_load
from grading.models import TaskStanding
from tests.support.rows import graded_row, run_row

pytestmark = pytest.mark.django_db


def test_the_list_has_the_six_and_their_design(anyone: Client) -> None:
    published_load()
    page = anyone.get("/tasks/").content.decode()
    for task, design in designs().items():
        assert f'href="/tasks/{task}/"' in page
        assert design.hard_because in page
    assert 'href="/runs/?task=gsm8k">12</a>' in page


@pytest.mark.parametrize("task", [*designs(), "arithmetic"])
def test_every_task_has_its_page(task: str, anyone: Client) -> None:
    published_load()
    page = anyone.get(f"/tasks/{task}/").content.decode()
    assert "How a submission is graded here" in page
    assert ("As the paper sets it" in page) == (task in designs())
    assert ("published, table 16" in page) == (task in designs())


def test_the_figures_are_plain_data() -> None:
    published_load()
    whole = Client().get("/tasks/designs.json").json()
    assert [trace["r"][:4] for trace in whole["data"]] == [list(d.design.values()) for d in designs().values()]
    assert len({trace["subplot"] for trace in whole["data"]}) == 6
    alone = Client().get("/tasks/designs.json?task=webshop").json()
    assert [trace["name"] for trace in alone["data"]] == ["WebShop"]
    scores = Client().get("/tasks/webshop/scores.json").json()
    runs = [trace for trace in scores["data"] if trace["mode"] == "markers"]
    assert sorted(value for trace in runs for value in trace["x"])[-1] == 84.0
    assert sum(len(trace["x"]) for trace in runs) == 12
    assert {trace["x"][0] for trace in scores["data"] if trace["mode"] == "lines"} == {69.0, 0.0}


def test_names_in_a_figure_are_not_markup() -> None:
    graded_row(run_row(base_model="<img src=x>", state=RunState.FINISHED), 5.0)
    told = Client().get("/tasks/arithmetic/scores.json").json()
    assert told["layout"]["yaxis"]["ticktext"] == ["&lt;img src=x&gt;<br>arithmetic/1"]


def test_both_noises_stand_apart() -> None:
    for score in (40.0, 50.0, 60.0):
        run = run_row(agent="many", state=RunState.FINISHED)
        graded_row(run, score)
        TaskStanding.objects.filter(run=run).update(best_error=1.5, baseline=20.0)
    graded_row(run_row(agent="single", state=RunState.FINISHED), 30.0)
    page = Client().get("/tasks/arithmetic/").content.decode()
    many, single = page.split(">many</a>")[1].split("</tr>")[0], page.split(">single</a>")[1].split("</tr>")[0]
    assert "3 of 3" in many
    assert '<td class="num">10.0</td>' in many
    assert "± 0.9" in many
    assert "one run: none" in single
    assert "one run: none" not in many


def test_what_is_no_task_is_not_found(anyone: Client) -> None:
    for path in ("/tasks/nothing/", "/tasks/nothing/scores.json", "/tasks/designs.json?task=nothing"):
        assert anyone.get(path).status_code == 404


def test_a_task_page_takes_the_boards_filters() -> None:
    published_load()
    page = Client().get("/tasks/gsm8k/?agent=codex-cli").content.decode()
    board = page.split('class="task-board"')[1].split("</table>")[0]
    assert "Codex CLI" in board
    assert "Claude Code" not in board


def test_queries(django_assert_max_num_queries: Any) -> None:
    published_load()
    for path in ("/tasks/", "/tasks/gsm8k/", "/tasks/gsm8k/scores.json"):
        with django_assert_max_num_queries(6):
            Client().get(path)
