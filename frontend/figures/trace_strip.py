"""The curve above a trace: drawn on the server, so that it is there at once, weighs little, and each mark is a link.

Horizontal places are per cent of the width, vertical ones pixels: scores 0–100 between `BOTTOM` and `TOP`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from frontend.trace_marks import Mark
from frontend.trace_outline import notable
from traces.methods.switches import MethodSwitch
from traces.methods.words import POLICY_GRADIENT, PREFERENCE, Method

TOP, BOTTOM, RAIL = 32.0, 96.0, 122.0
LINKS = 60
"""Marks that are links; of more submissions the others are dots."""
TICKS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
LABEL = 13.0
"""Pixels that a label at the right edge is high."""
NAMED_FROM = 6.0
"""Per cent of the width that a method's name needs."""


@dataclass(frozen=True)
class Place:
    """A submission at `x` per cent and `y` pixels, with the shape of its state."""

    mark: Mark
    x: float
    y: float
    shape: str


@dataclass(frozen=True)
class Band:
    """A stretch of one method."""

    x: float
    width: float
    method: Method
    look: str

    @property
    def named(self) -> bool:
        return self.width >= NAMED_FROM

    @property
    def slim(self) -> bool:
        """Too slim for its name on a phone."""
        return self.width < 3 * NAMED_FROM


@dataclass(frozen=True)
class Change:
    """A method switch: green and upward where it raised the best so far, red, dashed and downward where not."""

    x: float
    good: bool
    label: str


@dataclass(frozen=True)
class Strip:
    """Everything that the template draws. `end` is the right edge: seconds, or events where no times are known."""

    by: str
    end: float
    ticks: Sequence[tuple[float, str]]
    places: Sequence[Place]
    dots: str
    """The path of the marks that are no links, x in 0–1000."""
    best: str
    """The path of the best so far, x in 0–1000, y in 0–64."""
    best_score: float | None
    best_y: float
    baseline: float | None
    baseline_y: float
    bands: Sequence[Band]
    changes: Sequence[Change]

    @property
    def best_label_y(self) -> float:
        """The two labels at the right edge keep apart."""
        return self.best_y + 4 - self._apart

    @property
    def baseline_label_y(self) -> float:
        return self.baseline_y + 4 + self._apart

    @property
    def _apart(self) -> float:
        if self.best_score is None or self.baseline is None:
            return 0.0
        near = LABEL - abs(self.best_y - self.baseline_y)
        return 0.0 if near <= 0 else near / 2 * (1 if self.best_y <= self.baseline_y else -1)


def strip(
    marks: Sequence[Mark],
    switches: Sequence[MethodSwitch] = (),
    *,
    baseline: float | None = None,
    seconds: float | None = None,
    events: int = 0,
) -> Strip:
    """`seconds`: of the run, None where no times are known; then marks stand at their events' numbers."""
    by = "time" if seconds is not None else "events"
    at = {mark.number: mark.elapsed_s if by == "time" else mark.seq for mark in marks}
    end = (
        max([seconds if seconds is not None else events, *(value for value in at.values() if value is not None)]) or 1.0
    )
    xs = {number: round(100 * value / end, 3) for number, value in at.items() if value is not None}
    shown = [mark for mark in marks if mark.number in xs]
    linked = {mark.number for mark in notable(shown, LINKS)}
    best = shown[-1].best if shown else None
    return Strip(
        by=by,
        end=float(end),
        ticks=_ticks(end, by),
        places=[Place(m, xs[m.number], _y(m.score), _shape(m)) for m in shown if m.number in linked],
        dots=" ".join(f"M{10 * xs[m.number]:g} {_y(m.score):g}h0" for m in shown if m.number not in linked),
        best=_best(shown, xs),
        best_score=best,
        best_y=_y(best),
        baseline=baseline,
        baseline_y=_y(baseline),
        bands=_bands(switches, xs),
        changes=[_change(switch, xs[switch.number]) for switch in switches if switch.number in xs],
    )


def _y(score: float | None) -> float:
    """No score: on the rail, never at zero."""
    return RAIL if score is None else round(BOTTOM - (BOTTOM - TOP) * min(100.0, max(0.0, score)) / 100, 1)


def _shape(mark: Mark) -> str:
    if mark.score is not None:
        return "hi" if mark.new_best else "dot"
    return {"rejected": "rej", "errored": "err"}.get(mark.state, "wait")


def _best(shown: Sequence[Mark], xs: dict[int, float]) -> str:
    steps = [(10 * xs[mark.number], _y(mark.score) - TOP) for mark in shown if mark.new_best]
    if not steps:
        return ""
    path = [f"M{steps[0][0]:g} {steps[0][1]:g}", *(f"H{x:g}V{y:g}" for x, y in steps[1:])]
    return "".join([*path, f"H{10 * max(xs[mark.number] for mark in shown):g}"])


def _bands(switches: Sequence[MethodSwitch], xs: dict[int, float]) -> list[Band]:
    placed = [switch for switch in switches if switch.number in xs]
    if not placed:
        return []
    edges = [0.0, *(xs[switch.number] for switch in placed), 100.0]
    methods = [placed[0].before, *(switch.after for switch in placed)]
    return [
        Band(left, round(right - left, 3), method, _look(method))
        for left, right, method in zip(edges[:-1], edges[1:], methods, strict=True)
    ]


def _look(method: Method) -> str:
    if method in POLICY_GRADIENT:
        return "rl"
    return "pref" if method in PREFERENCE else "merge" if method is Method.MERGING else "sup"


def _change(switch: MethodSwitch, x: float) -> Change:
    raised = "raised the best score" if switch.is_success else "did not raise the best score"
    told = raised if switch.is_success is not None else "has no score"
    return Change(
        x, bool(switch.is_success), f"{switch.before} to {switch.after} with submission {switch.number}: {told}"
    )


def _ticks(end: float, by: str) -> list[tuple[float, str]]:
    """At most seven."""
    if by != "time":
        step = 10 ** math.floor(math.log10(end)) if end >= 10 else 10
        return [(round(100 * at / end, 3), f"{at:,.0f}") for at in (step * n for n in range(10)) if at <= end][:7]
    step = next((step for step in TICKS if end / step <= 6), math.ceil(end / 6))
    unit, per = ("h", 3600) if step >= 3600 else ("min", 60) if step >= 60 else ("s", 1)
    places = [(round(100 * step * n / end, 3), step * n / per) for n in range(int(end // step) + 1)]
    return [(x, f"{value:g} {unit}" if value else "0") for x, value in places]
