"""The curve of one run: best so far, every submission, the baseline, and a rail for what has no score."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.models import Run
from frontend.best_so_far import Point
from frontend.figures.curve_methods import (
    TOP,
    MethodMarks,
    method_layout,
    method_names,
    method_shapes,
    switch_marks,
)
from frontend.figures.style import Figure, axis, layout, token
from frontend.formats import clock
from frontend.formats import score as score_text
from grading.models import SubmissionState

AXES = ("time", "submissions", "tokens")
DRAWN_MOST = 1500
"""Of scored submissions that are no new best, this many are drawn."""
LABELLED = 6
"""At most this many new bests carry their score as text."""
APART = 6.0
"""Points that two labels at the right edge need between them."""


@dataclass(frozen=True)
class Scale:
    """The horizontal axis: its unit, and what to divide by."""

    title: str
    per: float = 1.0


def scale_of(run: Run, x: str) -> Scale:
    """Seconds up to five minutes of budget, minutes up to two hours, else hours."""
    if x == "submissions":
        return Scale("submission")
    if x == "tokens":
        return Scale("million tokens used", 1e6)
    if run.budget_s <= 300:
        return Scale("seconds elapsed")
    return Scale("minutes elapsed", 60.0) if run.budget_s <= 7200 else Scale("hours elapsed", 3600.0)


def position(point: Point, x: str, scale: Scale) -> float | None:
    """Where a submission stands; None: unknown on this axis."""
    value: float | None = {
        "time": point.submission.elapsed_s,
        "submissions": point.submission.number,
        "tokens": point.submission.tokens,
    }[x]
    return None if value is None else value / scale.per


def curve(
    run: Run, points: Sequence[Point], baseline: float | None, x: str = "time", marks: MethodMarks | None = None
) -> Figure:
    """The figure as plain data, scores 0..100; `x` is one of AXES. No text in it comes from outside the platform.

    Of very many submissions the scored ones that are no new best are thinned out.
    """
    scale = scale_of(run, x)
    points = thinned(points)
    placed = [(at, point) for point in points if (at := position(point, x, scale)) is not None]
    now = _now(run, placed, x, scale)
    end = _end(run, placed, x, scale, now)
    best = placed[-1][1].best if placed else None
    traces = [_baseline(baseline, end), _best(placed, now), *_marks(placed, end), *_rail(placed)]
    drawn = _layout(run, x, scale, now, end) | {"annotations": _labels(best, baseline)}
    found = {"data": [trace for trace in traces if trace], "layout": drawn}
    places = {point.submission.number: at for at, point in placed}
    return _with_methods(found, marks, places, now or end) if marks and marks.methods and placed else found


def _with_methods(figure: Figure, marks: MethodMarks, places: dict[int, float], now: float) -> Figure:
    """The figure with a band of methods above it."""
    shown = figure["layout"]
    labels = shown["annotations"]
    shown |= method_layout() | {"yaxis": shown["yaxis"] | {"domain": [0.18, TOP]}}
    shown["shapes"] = [*shown["shapes"], *method_shapes(marks, places, now)]
    shown["annotations"] = [*labels, *method_names(marks, places, now)]
    narrow = {"annotations": [*labels, *method_names(marks, places, now, narrow=True)]}
    return {"data": [*figure["data"], *switch_marks(marks, places)], "layout": shown, "narrow": narrow}


def thinned(points: Sequence[Point], most: int = DRAWN_MOST) -> Sequence[Point]:
    """All new bests and all without a score, and of the others evenly spread ones."""
    if len(points) <= most:
        return points
    plain = [point for point in points if point.score is not None and not point.new_best]
    step = -(-len(plain) // most) or 1
    kept = {id(point) for point in plain[::step]}
    return [p for p in points if p.new_best or p.score is None or id(p) in kept]


def _layout(run: Run, x: str, scale: Scale, now: float, end: float) -> Figure:
    return layout(
        margin={"l": 36, "r": 92, "t": 14, "b": 44},
        xaxis=axis(range=[0, end], anchor="y2", showgrid=False, showline=True, ticks="outside", ticklen=4)
        | {"title": {"text": scale.title, "font": {"size": 12, "color": token("ink-3")}, "standoff": 4}},
        yaxis=axis(range=[0, 100], dtick=20, domain=[0.18, 1]),
        yaxis2=axis(range=[-1, 1], domain=[0, 0.12], showgrid=False, showticklabels=False),
        shapes=_left(run, x, now, end),
    )


def _now(run: Run, placed: Sequence[tuple[float, Point]], x: str, scale: Scale) -> float:
    last = placed[-1][0] if placed else 0.0
    if x == "time":
        return max(last, (run.elapsed_s() or 0.0) / scale.per)
    return max(last, (run.tokens or 0) / scale.per) if x == "tokens" else last


def _end(run: Run, placed: Sequence[tuple[float, Point]], x: str, scale: Scale, now: float) -> float:
    """A run under way shows its whole budget; an ended one what it used."""
    if x == "time":
        return run.budget_s / scale.per if not run.ended_at else (now * 1.02 or run.budget_s / scale.per)
    return now * 1.04 + (0.5 if x == "submissions" else 0.0) or 1.0


def _baseline(score: float | None, end: float) -> Figure | None:
    if score is None:
        return None
    return {
        "type": "scatter",
        "name": "baseline",
        "mode": "lines",
        "x": [0, end],
        "y": [score, score],
        "line": {"color": token("ink-2"), "width": 1.25, "dash": "5px,4px"},
        "hoverinfo": "skip",
    }


def _best(placed: Sequence[tuple[float, Point]], now: float) -> Figure | None:
    """The running maximum as a step line, to the present."""
    steps = [(at, point.best) for at, point in placed if point.best is not None]
    if not steps:
        return None
    return {
        "type": "scatter",
        "name": "best so far",
        "mode": "lines",
        "x": [at for at, _ in steps] + [max(now, steps[-1][0])],
        "y": [best for _, best in steps] + [steps[-1][1]],
        "line": {"color": token("accent"), "width": 2, "shape": "hv"},
        "hoverinfo": "skip",
    }


def _marks(placed: Sequence[tuple[float, Point]], end: float) -> list[Figure | None]:
    fresh = [(at, point) for at, point in placed if point.new_best]
    other = [(at, point) for at, point in placed if point.score is not None and not point.new_best]
    ring = {"color": token("paper"), "size": 8, "line": {"color": token("ink-2"), "width": 1.5}}
    disc = {"color": token("accent"), "size": 10, "line": {"color": token("paper"), "width": 1.5}}
    highlights = _markers("new best", fresh, {**disc, "symbol": "circle"})
    if highlights and len(fresh) <= LABELLED:
        highlights |= {
            "mode": "markers+text",
            "text": [f"#{point.submission.number} {score_text(point.score)}" for _, point in fresh],
            "textposition": ["top right" if at < end / 4 else "top left" for at, _ in fresh],
            "textfont": {"color": token("ink"), "size": 12},
        }
    return [_markers("scored", other, {**ring, "symbol": "circle"}), highlights]


def _rail(placed: Sequence[tuple[float, Point]]) -> list[Figure | None]:
    """Submissions without a score, on an axis of their own: never at zero."""
    down, warn, accent = token("down"), token("warn"), token("accent")
    states = (
        ("rejected", {SubmissionState.REJECTED}, {"symbol": "x-thin", "size": 8, "line": {"color": down, "width": 2}}),
        (
            "errored",
            {SubmissionState.ERRORED},
            {"symbol": "triangle-up", "size": 10, "color": token("paper"), "line": {"color": warn, "width": 1.75}},
        ),
        (
            "waiting",
            {SubmissionState.RECEIVED, SubmissionState.QUEUED, SubmissionState.GRADING},
            {"symbol": "circle-open-dot", "size": 10, "color": accent, "line": {"color": accent, "width": 1.75}},
        ),
    )
    return [
        _markers(name, [(at, p) for at, p in placed if p.submission.state in members], look, rail=True)
        for name, members, look in states
    ]


def _markers(name: str, members: Sequence[tuple[float, Point]], marker: Figure, *, rail: bool = False) -> Figure | None:
    if not members:
        return None
    return {
        "type": "scatter",
        "name": name,
        "mode": "markers",
        "x": [at for at, _ in members],
        "y": [0.0 if rail else point.score for _, point in members],
        "yaxis": "y2" if rail else "y",
        "marker": marker,
        "cliponaxis": False,
        "customdata": [point.submission.number for _, point in members],
        "hovertext": [_hover(point) for _, point in members],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _hover(point: Point) -> str:
    told = score_text(point.score) if point.score is not None else f"{point.submission.state}, no score"
    return f"Submission {point.submission.number}, {clock(point.submission.elapsed_s)}: {told}" + (
        ", new best" if point.new_best else ""
    )


def _left(run: Run, x: str, now: float, end: float) -> list[Figure]:
    """The rest of the budget, while there is one."""
    if x != "time" or run.ended_at or not run.started_at or now >= end:
        return []
    place = {"type": "rect", "xref": "x", "yref": "paper", "x0": now, "x1": end, "y0": 0.18, "y1": 1, "layer": "below"}
    return [place | {"fillcolor": token("paper-2"), "line": {"width": 0}}]


def _labels(best: float | None, baseline: float | None) -> list[Figure]:
    """Names at the lines' ends, kept apart when they meet, and the rail's."""
    near = best is not None and baseline is not None and abs(best - baseline) < APART
    lift = 8 if near and (best or 0) >= (baseline or 0) else -8 if near else 0
    found = [_label("no score", 0.0, "y2", token("ink-3"))]
    if best is not None:
        found.append(_label(f"{best:.2f} best", best, "y", token("accent"), lift))
    if baseline is not None:
        found.append(_label(f"{baseline:.2f} base", baseline, "y", token("ink-2"), -lift))
    return found


def _label(text: str, y: float, axis_name: str, colour: str, shift: int = 0) -> Figure:
    place = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 6, "yref": axis_name, "y": y, "yshift": shift}
    return place | {"text": text, "showarrow": False, "font": {"size": 12, "color": colour}}
