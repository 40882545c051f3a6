"""The score and the numbers beside it, from records made by hand."""

import pytest

from benchmark.tasks.alfworld.evaluator import Alfworld
from benchmark.tasks.contract import Record


def record(kind: str, *, won: bool, steps: int = 50, nothing: int = 0, thoughts: int = 0, left_out: int = 0) -> Record:
    facts = {
        "type": kind,
        "steps": steps,
        "nothing_happens": nothing,
        "thoughts": thoughts,
        "steps_left_out": left_out,
    }
    return Record(kind, "", (), None, float(won), 0, "stop", facts)


def test_score_is_share_of_games_won() -> None:
    metrics = Alfworld().metrics(
        [
            record("look_at_obj", won=True, steps=10, nothing=1, thoughts=2),
            record("look_at_obj", won=False, steps=50, nothing=29, left_out=3),
            record("pick_and_place", won=False, steps=50),
            record("pick_two_obj", won=False, steps=50, thoughts=14),
        ]
    )
    assert metrics.score == 25
    assert metrics.extra["look_at_obj_percent"] == 50
    assert metrics.extra["pick_and_place_percent"] == 0
    assert metrics.extra["mean_steps"] == 40
    assert metrics.extra["nothing_happens_percent"] == pytest.approx(100 * 30 / 160)
    assert metrics.extra["thought_percent"] == pytest.approx(10)
    assert metrics.extra["shortened_prompts_percent"] == 25
    assert metrics.extra["standard_error"] == pytest.approx(100 * (0.25 * 0.75 / 4) ** 0.5)


def test_type_without_games_has_no_percentage() -> None:
    metrics = Alfworld().metrics([record("pick_and_place", won=False)])
    assert metrics.score == 0
    assert metrics.extra["pick_heat_then_place_percent"] is None
