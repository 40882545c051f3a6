"""Metrics of one run: benchmark-native and process ones (the paper's tables 6 and 11), ours beside the reference's.

The reference's metrics.json writes 0.0 for what was not scored and counts it as a score; here it is left out. Where the
two differ, `Metric.reference` has the reference's value. Times are seconds since the run's start, scores 0 to 100.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from traces.services.metrics_record import RunRecord


@dataclass(frozen=True)
class Metric:
    """`reference` is the value by the reference's definition; `differs` says whether it is another one."""

    key: str
    title: str
    value: Any
    definition: str
    unit: str = ""
    """`points`, `seconds`, `share` or empty."""
    reference: Any = None
    differs: bool = False

    def as_data(self) -> dict[str, Any]:
        told = {"key": self.key, "title": self.title, "value": self.value, "unit": self.unit}
        told["definition"] = self.definition
        return told | ({"reference": self.reference} if self.differs else {})


@dataclass(frozen=True)
class RunMetrics:
    """In the order in which they are shown."""

    native: tuple[Metric, ...]
    process: tuple[Metric, ...]
    methods: tuple[Metric, ...]
    record: RunRecord

    def as_data(self) -> dict[str, Any]:
        """JSON: every metric with its definition, and `reference`, the reference's metrics.json of this run."""
        groups = {"benchmark_native": self.native, "process": self.process, "methods": self.methods}
        told: dict[str, Any] = {name: [metric.as_data() for metric in group] for name, group in groups.items()}
        told["switches"] = [
            {
                "submission": switch.number,
                "before": switch.before.value,
                "after": switch.after.value,
                "raised_best": switch.is_success,
            }
            for switch in self.record.switches
        ]
        return told | {"runtime": dict(self.record.facts), "reference": reference_metrics(self.record)}


def run_metrics(record: RunRecord) -> RunMetrics:
    return RunMetrics(_native(record), _process(record), _methods(record), record)


def _native(record: RunRecord) -> tuple[Metric, ...]:
    best, total = record.best, len(record.submissions)
    gain = None if best is None or best.score is None or record.baseline is None else best.score - record.baseline
    return (
        Metric("baseline", "Baseline score", record.baseline, "The base model’s own score on the task.", "points"),
        Metric("best_score", "Best score", best.score if best else None, "The highest score.", "points"),
        Metric("improvement", "Improvement", gain, "Best score minus baseline score.", "points"),
        Metric("submissions", "Submissions", total, "All that were received, scored or not."),
        Metric("scored", "Scored submissions", len(record.scored), "Those that have a score; 0.0 is one."),
        Metric("time_used", "Time used", record.used_s, "From the agent’s start to its end, or to now.", "seconds"),
    )


def _process(record: RunRecord) -> tuple[Metric, ...]:
    scored, ended = record.scored, [each for each in record.submissions if not each.is_waiting]
    above = [each for each in scored if each.score]
    reference = reference_metrics(record)
    first, best = (scored[0] if scored else None), record.best
    values: tuple[tuple[str, str, Any, str, str], ...] = (
        (
            "valid_submission_rate",
            "Valid-submission rate",
            _share(len(scored), len(ended)),
            "share",
            "Scored submissions among those that ended. The reference counts scores above 0 among all.",
        ),
        (
            "first_valid_idx",
            "First valid submission",
            first.number if first else None,
            "",
            "Number of the first scored submission. The reference: of the first above 0.",
        ),
        (
            "first_valid_delay",
            "Time to it",
            _whole(first.elapsed_s if first else None),
            "seconds",
            "When the first scored submission arrived. The reference: the first above 0.",
        ),
        (
            "time_to_first_improvement",
            "Time to first improvement",
            _whole(_improved_at(record)),
            "seconds",
            "When the first submission with a score above the baseline arrived.",
        ),
        (
            "time_to_best",
            "Time to best",
            _whole(best.elapsed_s if best else None),
            "seconds",
            "When the submission with the best score arrived, the earliest of equals.",
        ),
        (
            "score_trajectory",
            "Score trajectory",
            [each.score for each in record.submissions],
            "points",
            "Scores in order; null is not scored. The reference writes 0.0 there.",
        ),
        (
            "monotonic_ratio",
            "Monotonic ratio",
            _rising([each.score or 0.0 for each in scored]),
            "share",
            "Scored submissions above the scored one before, among all but the first. "
            "The reference counts what was not scored as 0.0.",
        ),
        (
            "copy_model_count",
            "Copies of the base model",
            reference["copy_model_count"],
            "",
            "Submissions whose weights equal the base model’s.",
        ),
        (
            "time_used_ratio",
            "Time-used ratio",
            _share(record.used_s, record.budget_s),
            "share",
            "Time used over the budget.",
        ),
        (
            "last_submit_gap",
            "Last-submit gap",
            reference["last_submit_gap"],
            "seconds",
            "From the arrival of the last submission to the agent’s end, or to now.",
        ),
        (
            "zero_rate",
            "Zero rate",
            _share(len(scored) - len(above), len(scored)),
            "share",
            "Scores of 0.0 among the scored submissions (table 11).",
        ),
    )
    return tuple(
        Metric(
            key,
            title,
            value,
            definition,
            unit,
            reference.get(key),
            differs=key in reference and not _equal(reference[key], value),
        )
        for key, title, value, unit, definition in values
    )


def _methods(record: RunRecord) -> tuple[Metric, ...]:
    best, switches = record.best, record.switches
    route = record.route.route.value if record.route else None
    why = f" Here: {record.route.why}." if record.route else ""
    return (
        Metric("route", "Route", route, f"From the methods of all submissions (table 8); a suggestion.{why}"),
        Metric(
            "attempted",
            "Methods attempted",
            [method.value for method in record.attempted],
            "Methods behind any submission, from its code at that moment; rules suggest, people correct.",
        ),
        Metric(
            "adopted",
            "Methods adopted",
            [method.value for method in record.adopted],
            "Of these, the methods behind the best submission (table 18).",
        ),
        Metric(
            "switches",
            "Method switches",
            len(switches) if record.labelled else None,
            "Submissions whose method differs from the previous known one.",
        ),
        Metric(
            "switches_up",
            "Switches that raised the best",
            sum(switch.is_success is True for switch in switches) if record.labelled else None,
            "Those whose own score was a new best.",
        ),
        Metric("best_at", "Best@k", best.number if best else None, "Number of the best submission (table 11)."),
        Metric(
            "code_files",
            "Code files",
            record.code_files,
            "Python, notebooks and shell scripts in the workspace (table 11).",
        ),
        Metric(
            "model_versions",
            "Model versions",
            record.model_versions,
            "Folders that were seen to hold weights, deleted ones too (table 11).",
        ),
    )


def reference_metrics(record: RunRecord) -> dict[str, Any]:
    """The reference's metrics.json of this run, by its own definitions: not scored counts as 0.0."""
    scores = [each.score if each.is_scored else 0.0 for each in record.submissions]
    valid = [each for each in record.scored if each.score]
    last = record.submissions[-1] if record.submissions else None
    gap = None if last is None or record.used_s is None else record.used_s - last.elapsed_s
    return {
        "valid_submission_rate": _share(len(valid), len(scores)),
        "first_valid_idx": valid[0].number if valid else None,
        "first_valid_delay": _whole(valid[0].elapsed_s if valid else None),
        "score_trajectory": scores,
        "time_to_first_improvement": _whole(_improved_at(record)),
        "time_to_best": _whole(record.best.elapsed_s if record.best else None),
        "monotonic_ratio": _rising([score or 0.0 for score in scores]),
        "copy_model_count": sum(each.is_copy for each in record.submissions),
        "time_used_ratio": _share(record.used_s, record.budget_s),
        "last_submit_gap": _whole(max(0.0, gap) if gap is not None else None),
    }


def _improved_at(record: RunRecord) -> float | None:
    if record.baseline is None:
        return None
    return next((each.elapsed_s for each in record.scored if (each.score or 0.0) > record.baseline), None)


def _rising(scores: Sequence[float]) -> float | None:
    """The share of steps that go up; None for less than two scores."""
    steps = list(pairwise(scores))
    return sum(after > before for before, after in steps) / len(steps) if steps else None


def _share(part: float | None, whole: float) -> float | None:
    return part / whole if whole and part is not None else None


def _whole(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right)
    return bool(left == right)
