"""Runs side by side: what the page reads out of them, whom it shows what, and what it refuses."""

import json
import re
from typing import Any

import plotly.graph_objects as go
import pytest
from django.test import Client

from benchmark.models import Origin, Run
from grading.models import TaskStanding
from tests.support.rows import run_row
from tests.support.stories import story_row

pytestmark = pytest.mark.django_db
PARTS = ("compare", "compare/curve.json", "compare/points.csv", "compare/measures.tex")


def page(client: Client, *runs: Run, status: int = 200, **query: str) -> str:
    answer = client.get("/compare", {"runs": ",".join(run.slug for run in runs), **query})
    assert answer.status_code == status
    return answer.content.decode()


def row_of(text: str, title: str) -> list[str]:
    """A measure's cells, without marks."""
    row = re.search(rf'<th scope="row">{title}.*?</tr>', text, re.DOTALL)
    assert row, title
    return re.findall(r"<td[^>]*>([^<]*)", row[0])


def figure(client: Client, *runs: Run, **query: str) -> dict[str, Any]:
    answer = client.get("/compare/curve.json", {"runs": ",".join(run.slug for run in runs), **query})
    assert answer.status_code == 200
    told: dict[str, Any] = answer.json()
    return told


def test_everybody_compares_what_everybody_sees(anyone: Client) -> None:
    a = story_row([20.0, None, 40.0], [["SFT"], ["SFT"], ["SFT", "GRPO"]])
    b = story_row([30.0, 25.0], [["SFT"], ["DPO"]], agent="codex", driver="gpt-5.4")
    text = page(anyone, a, b)
    assert "3 submissions reach 40.00, 2 submissions reach 30.00; 10.00 points lie between" in text
    assert row_of(text, "Best score") == ["40.00", "30.00"]
    assert row_of(text, "Gain over baseline 10.00") == ["+30.00", "+20.00"]
    assert row_of(text, "Scored share") == ["67%", "100%"]
    assert row_of(text, "Method switches") == ["1 of 1", "0 of 1"]
    assert row_of(text, "Best reached") == ["3:00:00", "1:00:00"]
    assert "A and B differ by more than decoding noise (10.00 against ± 2.83 for the pair)." in text


def test_what_noise_cannot_tell_apart_is_said(anonymous: Client) -> None:
    assert "noise cannot tell the two apart" in page(anonymous, story_row([20.0]), story_row([21.0]))


def test_different_protocols_stand_beside_each_other_unranked(anonymous: Client) -> None:
    text = page(anonymous, story_row([20.0]), story_row([30.0], protocol="arithmetic/2"))
    assert "they are not ranked against each other" in text
    assert "Not the same measure." in text
    assert 'class="num star"' not in re.search(r'<th scope="row">Best score.*?</tr>', text, re.DOTALL)[0]  # type: ignore[index]


@pytest.mark.parametrize("x", ["time", "tokens", "submissions"])
def test_the_curve_is_the_running_maximum_over_each_axis(anonymous: Client, x: str) -> None:
    run = story_row([20.0, 15.0, None, 40.0], [["SFT"], ["SFT"], [], ["GRPO"]])
    told = figure(anonymous, run, x=x)
    steps = next(trace for trace in told["data"] if trace.get("name") == "A")
    assert steps["y"] == [20.0, 40.0, 40.0]
    assert steps["x"][:2] == [1.0, 4.0]
    shapes = told["layout"]["shapes"]
    assert (shapes[0]["x0"], shapes[0]["x1"]) == (0.0, 4.0)
    assert shapes[1]["fillcolor"] == "token:--rl"


def test_plotly_accepts_the_figure(anonymous: Client) -> None:
    told = figure(anonymous, story_row([20.0], [["SFT"]]), story_row([]))
    text = re.sub(r'"token:--[a-z0-9-]+"', '"#123456"', json.dumps(told, allow_nan=False))
    plain = json.loads(text)
    go.Figure(data=plain["data"], layout=plain["layout"] | plain["narrow"])


def test_a_title_from_outside_is_no_markup(anonymous: Client) -> None:
    run = story_row([20.0], agent="<b>evil</b>", driver="<img src=x>")
    assert "<img" not in page(anonymous, run)
    assert "<img" not in json.dumps(figure(anonymous, run))


def test_a_published_number_has_no_curve(anonymous: Client) -> None:
    run = run_row(origin=Origin.PUBLISHED, protocol="paper")
    TaskStanding.objects.update_or_create(run=run, task=run.task, defaults={"best": 84.0, "baseline": 78.0})
    text = page(anonymous, run)
    assert "A is a published number" in text
    assert row_of(text, "Best score") == ["84.00"]


def test_a_run_of_several_tasks_is_compared_on_the_shared_one(anonymous: Client) -> None:
    multi = story_row([20.0], mode="multi", task_list=["arithmetic", "gsm8k"])
    single = story_row([30.0])
    text = page(anonymous, multi, single)
    assert f"/compare?runs={multi.slug},{single.slug}&amp;task=gsm8k" in text
    assert "None of these runs is on webshop" in page(anonymous, multi, status=400, task="webshop")
    other = page(anonymous, multi, task="gsm8k")
    assert row_of(other, "Best score") == ["—"]


def test_a_run_on_another_task_is_said_to_be_and_keeps_none_from_being_ranked(anonymous: Client) -> None:
    a, b = story_row([20.0]), story_row([30.0])
    other = story_row([40.0], task="gsm8k", protocol="gsm8k/1", base_model="other", base_digest="c" * 64)
    text = page(anonymous, a, b, other, task="arithmetic")
    assert "C is not on Arithmetic" in text
    assert "has no submission" not in text
    assert "Not the same measure" not in text
    assert "points lie between" in text


def test_settings_that_differ_are_listed(anonymous: Client) -> None:
    a, b = story_row([1.0]), story_row([1.0], versions={"seed": 43})
    assert "Seed" in page(anonymous, a, b)
    assert "<code>example</code>" not in page(anonymous, a, b)
    assert "<code>example</code>" in page(anonymous, a, b, all="1")


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"runs": "a<b"}, "runs"),
        ({"runs": "no-such-run"}, "There is no run no-such-run"),
        ({"runs": ",".join(f"r{n}" for n in range(9))}, "At most 8 runs are compared at once; 9 were given."),
        ({"x": "depth"}, "is no axis"),
        ({"task": "../etc"}, "is no task"),
        ({"add": "x" * 81}, "at most 80 characters"),
    ],
)
def test_nonsense_is_a_400_that_names_the_parameter(anonymous: Client, query: dict[str, str], told: str) -> None:
    answer = anonymous.get("/compare", query)
    assert answer.status_code == 400
    assert told in answer.content.decode()


def test_files_and_figure_need_runs(anonymous: Client) -> None:
    for part in PARTS[1:]:
        assert anonymous.get(f"/{part}").status_code == 400
    assert anonymous.get("/compare").status_code == 200


def test_a_run_named_twice_is_compared_once_and_said(anonymous: Client) -> None:
    run = story_row([1.0])
    text = page(anonymous, run, run)
    assert "Named more than once and compared once" in text
    assert "Compare one run" in text


def test_repeated_parameters_of_a_form_become_one_address(anonymous: Client) -> None:
    a, b = story_row([1.0]), story_row([2.0])
    answer = anonymous.get("/compare", {"runs": [a.slug, b.slug]})
    assert answer.status_code == 302
    assert answer["Location"] == f"/compare?runs={a.slug},{b.slug}"


def test_runs_are_found_and_added(anonymous: Client) -> None:
    a, b = story_row([1.0]), story_row([2.0], agent="codex", driver="gpt-5.4")
    answer = anonymous.get("/compare", {"runs": a.slug, "add": "codex gpt"})
    assert f"/compare?runs={a.slug},{b.slug}" in answer.content.decode()
    assert anonymous.get("/compare", {"runs": a.slug, "add": b.slug})["Location"].endswith(f"{a.slug},{b.slug}")
    assert "No run matches" in anonymous.get("/compare", {"add": "zzz"}).content.decode()


def test_hidden_runs_are_not_there_for_others(anonymous: Client, stranger: Client) -> None:
    run = story_row([1.0], hidden=True)
    for client in (anonymous, stranger):
        assert page(client, run, status=400)
        assert run.slug not in client.get("/compare", {"add": "arithmetic"}).content.decode()


def test_the_files_hold_every_submission(anonymous: Client) -> None:
    run = story_row([20.0, None], agent="=evil")
    text = anonymous.get("/compare/points.csv", {"runs": run.slug}).content.decode()
    assert text.count("\n") == 3
    assert "'=evil" in text
    assert ",rejected,,20.0,0," in text
    tex = anonymous.get("/compare/measures.tex", {"runs": run.slug}).content.decode()
    assert r"\toprule" in tex


def test_eight_runs_take_few_queries(anonymous: Client, django_assert_max_num_queries: Any) -> None:
    runs = [story_row([1.0, 2.0], [["SFT"], ["GRPO"]]) for _ in range(8)]
    with django_assert_max_num_queries(8):
        page(anonymous, *runs)


@pytest.mark.parametrize("part", PARTS)
def test_only_reading(operator: Client, part: str) -> None:
    assert operator.post(f"/{part}").status_code == 405
