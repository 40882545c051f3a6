"""The metrics of tables 6 and 11, and the reference's beside them."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from traces.methods.words import Method
from traces.services.metrics import Metric, reference_metrics, run_metrics
from traces.services.metrics_record import RunRecord, Scored


def record(*scores: float | None, baseline: float | None = 10.0, **values: Any) -> RunRecord:
    rows = [Scored(n, 100.0 * n, score, "" if score is not None else "E_TEST") for n, score in enumerate(scores, 1)]
    return RunRecord(budget_s=1000, used_s=800.0, baseline=baseline, submissions=rows, **values)


def by_key(of: RunRecord) -> dict[str, Metric]:
    metrics = run_metrics(of)
    return {metric.key: metric for metric in (*metrics.native, *metrics.process, *metrics.methods)}


def test_the_reference_metrics_of_a_real_run_are_reproduced(shared_data: Path) -> None:
    folder = next((shared_data / "bundles" / "autorl_workspace" / "gsm8k").iterdir())
    meta = json.loads((folder / "run_meta.json").read_text())
    rows = json.loads((folder / "scores.json").read_text())
    first = datetime.fromisoformat(rows[-1]["timestamp"]).timestamp()
    submissions = [
        Scored(
            row["submission_id"],
            meta["last_submit_time"]
            - meta["start_time"]
            + datetime.fromisoformat(row["timestamp"]).timestamp()
            - first,
            None if row.get("error") else row["score"],
        )
        for row in rows
    ]
    run = RunRecord(
        budget_s=meta["timeout_s"],
        used_s=meta["end_time"] - meta["start_time"],
        baseline=rows[0]["baseline_score"],
        submissions=submissions,
    )
    assert reference_metrics(run) == json.loads((folder / "reports" / "metrics.json").read_text())
    ours = by_key(run)["monotonic_ratio"]
    assert (ours.value, ours.reference) == (pytest.approx(2 / 3), 0.5)


def test_unscored_is_no_zero_and_both_definitions_are_given() -> None:
    found = by_key(record(None, 5.0, None, 0.0, 20.0))
    assert found["valid_submission_rate"].value == pytest.approx(3 / 5)
    assert found["valid_submission_rate"].reference == pytest.approx(2 / 5)
    assert found["zero_rate"].value == pytest.approx(1 / 3)
    assert found["score_trajectory"].value == [None, 5.0, None, 0.0, 20.0]
    assert found["score_trajectory"].reference == [0.0, 5.0, 0.0, 0.0, 20.0]
    assert found["monotonic_ratio"].value == pytest.approx(1 / 2)
    assert found["monotonic_ratio"].reference == pytest.approx(2 / 4)
    assert found["first_valid_idx"].value == 2
    assert found["time_to_first_improvement"].value == found["time_to_best"].value == 500
    assert found["best_at"].value == 5
    assert found["last_submit_gap"].value == 300
    assert found["improvement"].value == 10.0


def test_a_first_score_of_zero_counts_as_scored_here_and_not_in_the_reference() -> None:
    found = by_key(record(0.0, 4.0))
    assert (found["first_valid_idx"].value, found["first_valid_idx"].reference) == (1, 2)
    assert (found["first_valid_delay"].value, found["first_valid_delay"].reference) == (100, 200)
    assert found["first_valid_idx"].differs


@pytest.mark.parametrize("scores", [(), (None,), (None, None), (float("nan"),)])
def test_what_cannot_be_told_is_unknown_and_never_zero(scores: tuple[float | None, ...]) -> None:
    found = by_key(record(*scores))
    for key in ("best_score", "improvement", "first_valid_idx", "time_to_best", "zero_rate", "monotonic_ratio"):
        assert found[key].value is None


def test_without_a_baseline_there_is_no_improvement() -> None:
    found = by_key(record(50.0, baseline=None))
    assert found["improvement"].value is None
    assert found["time_to_first_improvement"].value is None


def test_a_waiting_submission_is_neither_valid_nor_invalid() -> None:
    rows = [Scored(1, 10, 5.0), Scored(2, 20, None, is_waiting=True)]
    found = by_key(RunRecord(budget_s=100, used_s=50, baseline=None, submissions=rows))
    assert found["valid_submission_rate"].value == 1.0


def test_methods_attempted_and_adopted_and_switches() -> None:
    rows = [
        Scored(1, 10, 20.0, methods=(Method.SFT,)),
        Scored(2, 20, 15.0, methods=(Method.DPO,)),
        Scored(3, 30, None, methods=()),
        Scored(4, 40, 30.0, methods=(Method.SFT, Method.GRPO)),
    ]
    run = RunRecord(budget_s=100, used_s=50, baseline=1.0, submissions=rows, labelled=4)
    found = by_key(run)
    assert found["attempted"].value == ["SFT", "DPO", "GRPO"]
    assert found["adopted"].value == ["SFT", "GRPO"]
    assert (found["switches"].value, found["switches_up"].value) == (2, 1)
    assert [(s.number, s.is_success) for s in run.switches] == [(2, False), (4, True)]


def test_everything_is_json() -> None:
    told = run_metrics(record(1.0, None)).as_data()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert all(metric["definition"] for group in ("benchmark_native", "process", "methods") for metric in told[group])
