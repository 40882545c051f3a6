"""The figure of a run, made from rows that are never stored."""

import json
import math
import re
from datetime import timedelta
from typing import Any

import plotly.graph_objects as go
import pytest
from django.utils import timezone

from benchmark.models import Run, RunState
from frontend.best_so_far import points
from frontend.figures.curve import AXES, curve
from grading.models import Submission, SubmissionState, Verdict

GRADED = SubmissionState.GRADED


def run_of(**values: Any) -> Run:
    started = timezone.now() - timedelta(seconds=300)
    return Run(**{"budget_s": 600, "started_at": started, "state": RunState.RUNNING, **values})


def submission(number: int, score: float | None = None, state: SubmissionState = GRADED, **values: Any) -> Submission:
    verdict = Verdict(score=score, code="" if score is not None else "E_TEST")
    facts = {"number": number, "state": state, "elapsed_s": 30.0 * number, "verdict": verdict, **values}
    return Submission(**facts)


MIXED = [
    submission(1, None, SubmissionState.REJECTED),
    submission(2, 10.0),
    submission(3, 5.0),
    submission(4, 10.0),
    submission(5, 0.0, tokens=5_000_000),
    submission(6, 40.0),
    submission(7, None, SubmissionState.ERRORED),
    submission(8, None, SubmissionState.GRADING, verdict=None),
]


def traces(figure: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {trace["name"]: trace for trace in figure["data"]}


def plain(figure: dict[str, Any]) -> dict[str, Any]:
    """As the page draws it: tokens replaced."""
    text = re.sub(r'"token:--sans"', '"sans"', json.dumps(figure, allow_nan=False))
    return dict(json.loads(re.sub(r'"token:--[a-z0-9-]+"', '"#123456"', text)))


@pytest.mark.parametrize("x", AXES)
@pytest.mark.parametrize("rows", [[], MIXED, MIXED[:1]], ids=["none", "mixed", "rejected only"])
@pytest.mark.parametrize("baseline", [None, 0.0, 38.0])
@pytest.mark.parametrize("ended", [False, True])
def test_plotly_accepts_it(x: str, rows: list[Submission], baseline: float | None, ended: bool) -> None:
    run = run_of(ended_at=timezone.now() if ended else None, state=RunState.FINISHED if ended else RunState.RUNNING)
    figure = plain(curve(run, points(rows), baseline, x))
    go.Figure(**figure).to_plotly_json()
    assert "token:" not in json.dumps(figure)


def test_the_step_line_is_the_running_maximum_and_reaches_the_present() -> None:
    best = traces(curve(run_of(), points(MIXED), 8.0))["best so far"]
    assert best["y"] == [10.0, 10.0, 10.0, 10.0, 40.0, 40.0, 40.0, 40.0]
    assert best["line"]["shape"] == "hv"
    assert best["x"][-1] == pytest.approx(5.0, abs=0.1)


def test_unscored_submissions_lie_on_the_rail_and_never_at_zero() -> None:
    found = traces(curve(run_of(), points(MIXED), None))
    for name, number in (("rejected", 1), ("errored", 7), ("waiting", 8)):
        assert found[name]["customdata"] == [number]
        assert found[name]["yaxis"] == "y2"
    assert "baseline" not in found
    assert found["scored"]["customdata"] == [3, 4, 5]
    assert found["new best"]["customdata"] == [2, 6]
    assert 0.0 in found["scored"]["y"]


def test_a_score_that_is_not_finite_is_no_score() -> None:
    found = points([submission(1, math.nan), submission(2, 1.0)])
    assert [point.best for point in found] == [None, 1.0]


def test_over_tokens_only_known_ones_are_drawn() -> None:
    found = traces(curve(run_of(), points(MIXED), None, "tokens"))
    assert found["scored"]["x"] == [5.0]


def test_labels_that_meet_are_pushed_apart() -> None:
    labels = curve(run_of(), points([submission(1, 40.0)]), 38.0)["layout"]["annotations"]
    assert [label["yshift"] for label in labels] == [0, 8, -8]


def test_text_from_outside_is_not_in_the_figure() -> None:
    hostile = submission(1, 3.0, model_path="<script>alert(1)</script>")
    hostile.verdict = Verdict(score=3.0, message="<script>")
    assert "script" not in json.dumps(curve(run_of(agent="<script>"), points([hostile]), 2.0))


def test_an_ended_run_shows_what_it_used_and_a_running_one_its_budget() -> None:
    ended = run_of(ended_at=timezone.now(), state=RunState.FINISHED)
    assert curve(ended, [], 5.0)["layout"]["xaxis"]["range"][1] == pytest.approx(5.1, abs=0.1)
    assert curve(run_of(), [], 5.0)["layout"]["xaxis"]["range"] == [0, 10.0]
    assert curve(run_of(), [], 5.0)["layout"]["shapes"]
    assert not curve(ended, [], 5.0)["layout"]["shapes"]
