"""A run's metrics as the page prints them."""

from dataclasses import dataclass
from typing import Any

from frontend import formats
from traces.services.metrics import Metric, RunMetrics


@dataclass(frozen=True)
class MetricRow:
    title: str
    value: str
    reference: str
    """Empty where the reference defines it alike, or not at all."""
    definition: str


def metric_groups(metrics: RunMetrics) -> list[tuple[str, list[MetricRow]]]:
    groups = (("Benchmark-native", metrics.native), ("Process", metrics.process), ("Methods", metrics.methods))
    return [(name, [_row(metric) for metric in group if metric.key != "score_trajectory"]) for name, group in groups]


def _row(metric: Metric) -> MetricRow:
    other = shown(metric, metric.reference) if metric.differs else ""
    return MetricRow(metric.title, shown(metric, metric.value), other, metric.definition)


def shown(metric: Metric, value: Any) -> str:
    """A dash where it is unknown."""
    if value is None:
        return formats.DASH
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "none"
    if metric.unit == "points":
        return formats.gain(value) if metric.key == "improvement" else formats.score(value)
    if metric.unit == "seconds":
        return formats.clock(value)
    return f"{value:.2f}" if metric.unit == "share" else str(value)
