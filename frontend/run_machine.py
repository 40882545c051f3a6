"""What a run's sandbox used over its time: a line, a mean and a peak for each measure."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, F

from benchmark.models import Run
from traces.models import ResourceSample

POINTS = 160
"""Of a line; of longer runs every n-th sample is drawn."""
BYTES, MIB, GIB = "bytes", 1024.0**2, 1024.0**3
"""All of a line in the unit that fits its peak."""
WIDTH, HEIGHT = 144, 24
"""Of a line's coordinates."""


@dataclass(frozen=True)
class Measure:
    """`points` are the SVG's, empty for less than two values."""

    name: str
    latest: str
    mean: str
    peak: str
    points: str


@dataclass(frozen=True)
class Machine:
    """`drawn` of `count` samples; empty when nothing was sampled."""

    measures: Sequence[Measure]
    count: int
    drawn: int


def machine(run: Run) -> Machine:
    """Two queries, whatever the run's length."""
    rows = ResourceSample.objects.filter(run=run)
    count = rows.aggregate(count=Count("id"))["count"]
    every = -(-count // POINTS) or 1
    samples = list(rows.annotate(place=F("id") % every).filter(place=0).order_by("at")[: 2 * POINTS])
    series: tuple[tuple[str, str, list[float | None]], ...] = (
        ("CPU, cores", "", [sample.cpus for sample in samples]),
        ("Memory", BYTES, [sample.memory_bytes for sample in samples]),
        ("Workspace on disk", BYTES, [sample.disk_bytes for sample in samples]),
        ("GPU", "%", [sample.gpu_percent for sample in samples]),
        ("GPU memory", BYTES, [sample.gpu_memory_bytes for sample in samples]),
    )
    measures = [_measure(name, unit, values) for name, unit, values in series if any(v is not None for v in values)]
    return Machine(measures, count, len(samples))


def _measure(name: str, unit: str, values: Sequence[float | None]) -> Measure:
    known = [value for value in values if value is not None]
    top = max(known)

    def told(value: float) -> str:
        if unit == BYTES:
            return f"{value / GIB:.2f} GiB" if top >= GIB else f"{value / MIB:.1f} MiB"
        return f"{value:.2f} {unit}".strip()

    return Measure(name, told(known[-1]), told(sum(known) / len(known)), told(top), line(values))


def line(values: Sequence[float | None]) -> str:
    """Points from left to right, zero at the bottom; unknown ones are left out."""
    top = max((value for value in values if value is not None), default=0.0) or 1.0
    if len(values) < 2:
        return ""
    step = WIDTH / (len(values) - 1)
    places = [(place, value) for place, value in enumerate(values) if value is not None]
    return " ".join(f"{place * step:.1f},{HEIGHT - HEIGHT * value / top:.1f}" for place, value in places)
