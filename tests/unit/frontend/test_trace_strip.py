import pytest

from frontend.figures.trace_strip import BOTTOM, RAIL, TOP, strip
from frontend.trace_marks import Mark
from frontend.trace_outline import notable
from traces.methods.switches import MethodSwitch
from traces.methods.words import Method


def marks(*scores: float | None, state: str = "graded", every: float = 600.0) -> list[Mark]:
    best, found = None, []
    for number, score in enumerate(scores, 1):
        new = score is not None and (best is None or score > best)
        best = score if new else best
        found.append(Mark(number, state if score is None else "graded", score, best, new, number * every, number * 10))
    return found


def test_scores_stand_between_bottom_and_top_and_no_score_on_the_rail() -> None:
    figure = strip(marks(0.0, 100.0, None), seconds=3600)
    assert [place.y for place in figure.places] == [BOTTOM, TOP, RAIL]
    assert [place.x for place in figure.places] == pytest.approx([16.667, 33.333, 50.0])
    assert [place.shape for place in figure.places] == ["hi", "hi", "wait"]


@pytest.mark.parametrize(("state", "shape"), [("rejected", "rej"), ("errored", "err"), ("queued", "wait")])
def test_each_state_has_a_shape(state: str, shape: str) -> None:
    assert strip(marks(None, state=state), seconds=600).places[0].shape == shape


def test_the_best_is_a_staircase_to_the_last_submission() -> None:
    assert strip(marks(50.0, 25.0, 75.0, 10.0), seconds=2400).best == "M250 32H750V16H1000"
    assert strip(marks(None, None), seconds=2400).best == ""


def test_without_times_events_are_the_axis() -> None:
    figure = strip(marks(50.0, 60.0), seconds=None, events=40)
    assert (figure.by, figure.end) == ("events", 40.0)
    assert [place.x for place in figure.places] == [25.0, 50.0]


def test_a_switch_is_green_up_or_red_down_and_bounds_the_bands() -> None:
    switches = [
        MethodSwitch(2, Method.SFT, Method.GRPO, 60.0, 50.0, True),
        MethodSwitch(3, Method.GRPO, Method.MERGING, None, 60.0, None),
    ]
    figure = strip(marks(50.0, 60.0, None), switches, seconds=2400)
    assert [(change.x, change.good) for change in figure.changes] == [(50.0, True), (75.0, False)]
    assert "has no score" in figure.changes[1].label
    assert [(band.x, band.width, band.look) for band in figure.bands] == [
        (0.0, 50.0, "sup"),
        (50.0, 25.0, "rl"),
        (75.0, 25.0, "merge"),
    ]


def test_many_submissions_stay_few_links_and_every_new_best_is_one() -> None:
    found = marks(*[float(number % 97) for number in range(1000)])
    figure = strip(found, seconds=600_000)
    assert len(figure.places) == 60
    assert figure.dots.count("h0") == 940
    assert {mark.number for mark in found if mark.new_best} <= {mark.number for mark in notable(found, 100)}


def test_labels_at_the_edge_keep_apart() -> None:
    figure = strip(marks(50.0), baseline=50.5, seconds=600)
    assert abs(figure.best_label_y - figure.baseline_label_y) >= 12


@pytest.mark.parametrize(("seconds", "last"), [(7.0, "6 s"), (90.0, "90 s"), (5400.0, "90 min"), (43200.0, "12 h")])
def test_at_most_seven_round_ticks(seconds: float, last: str) -> None:
    ticks = strip(marks(1.0, every=1.0), seconds=seconds).ticks
    assert len(ticks) <= 7
    assert (ticks[0], ticks[-1][1]) == ((0.0, "0"), last)


def test_nothing_submitted_draws_nothing() -> None:
    figure = strip([], seconds=None)
    assert (figure.places, figure.best, figure.bands, figure.best_score) == ([], "", [], None)
