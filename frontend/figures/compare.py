"""Best-so-far curves of several runs, and beneath them the method in use at each time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from frontend.figures.curve import Scale, scale_of
from frontend.figures.method_bands import Band, band_names, band_shapes, bands_of
from frontend.figures.series import colour, end_label, kept_apart, line, plain, ring, top_of
from frontend.figures.style import Figure, axis, layout, token
from frontend.formats import clock
from frontend.formats import score as score_text
from frontend.run_stories import Attempt

if TYPE_CHECKING:
    from frontend.compare import Comparison
    from frontend.compare_line import Line

HEIGHT = 420.0
"""Pixels of the plot that its labels reckon with."""
ROW = 22.0
"""Pixels of a row of bands."""
LABEL = 15.0


def compare_figure(comparison: "Comparison", x: str) -> Figure:
    """Plain data, scores 0..100; a run without submissions has no line. `narrow` is a phone's layout."""
    lines = [each for each in comparison.lines if each.story.attempts]
    scale = scale_of(max((each.run for each in lines), key=lambda run: run.budget_s), x) if lines else Scale("")
    end = max([_end(each, x, scale) for each in lines], default=0.0) or 1.0
    rows = [(each, _bands(each, x, scale, end)) for each in lines]
    rows = [(each, bands) for each, bands in rows if bands]
    share = min(0.5, ROW * len(rows) / HEIGHT)
    low = share + 0.13 if rows else 0.0
    shown = layout(
        margin={"l": 36, "r": 236, "t": 14, "b": 44 if not rows else 14},
        xaxis=axis(range=[0, end], showgrid=False, showline=True, ticks="outside", ticklen=4, anchor="y")
        | {"title": {"text": scale.title, "font": {"size": 12, "color": token("ink-3")}, "standoff": 2}},
        yaxis=axis(range=[0, _top(comparison)], domain=[low, 1], nticks=6),
        yaxis2=axis(range=[-max(len(rows), 1), 0], domain=[0, share or 0.01], showgrid=False, showticklabels=False),
        shapes=[one for at, (_, bands) in enumerate(rows) for one in band_shapes(bands, -at - 0.9, -at - 0.1, "y2")],
        annotations=_labels(comparison, rows, low, end),
    )
    narrow = {"margin": shown["margin"] | {"r": 76}, "annotations": _labels(comparison, rows, low, end, narrow=True)}
    curves = [trace for each in lines for trace in _curve(each, x, scale)]
    return {"data": [*_baseline(comparison, end), *curves, _floor(end)], "layout": shown, "narrow": narrow}


def _at(attempt: Attempt, x: str, scale: Scale) -> float | None:
    value = {"time": attempt.elapsed_s, "submissions": float(attempt.number), "tokens": attempt.tokens}[x]
    return None if value is None else value / scale.per


def _end(each: "Line", x: str, scale: Scale) -> float:
    """How far the run went on this axis."""
    last = max([at for attempt in each.story.attempts if (at := _at(attempt, x, scale)) is not None], default=0.0)
    if x == "time":
        return max(last, (each.run.elapsed_s() or 0.0) / scale.per)
    return max(last, (each.run.tokens or 0) / scale.per) if x == "tokens" else last


def _top(comparison: "Comparison") -> float:
    scores = [attempt.best for each in comparison.lines for attempt in each.story.new_bests if attempt.best is not None]
    return top_of([*scores, comparison.baseline or 0.0])


def _curve(each: "Line", x: str, scale: Scale) -> list[Figure]:
    placed = [(at, attempt) for attempt in each.story.new_bests if (at := _at(attempt, x, scale)) is not None]
    if not placed:
        return []
    stop = max(_end(each, x, scale), placed[-1][0])
    steps = {
        "type": "scatter",
        "name": each.letter,
        "mode": "lines",
        "x": [at for at, _ in placed] + [stop],
        "y": [attempt.best for _, attempt in placed] + [placed[-1][1].best],
        "line": line(each.place),
        "hoverinfo": "skip",
    }
    marks = {
        "type": "scatter",
        "name": f"{each.letter}, new bests",
        "mode": "markers",
        "x": [at for at, _ in placed],
        "y": [attempt.best for _, attempt in placed],
        "marker": ring(each.place),
        "cliponaxis": False,
        "hovertext": [_hover(each, attempt) for _, attempt in placed],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
    return [steps, marks]


def _hover(each: "Line", attempt: Attempt) -> str:
    made = f", {attempt.primary.value}" if attempt.methods else ""
    return f"{each.letter} #{attempt.number}, {clock(attempt.elapsed_s)}{made}: {score_text(attempt.score)}"


def _baseline(comparison: "Comparison", end: float) -> list[Figure]:
    if comparison.baseline is None:
        return []
    look = {"color": token("ink-2"), "width": 1.25, "dash": "5px,4px"}
    base = [comparison.baseline, comparison.baseline]
    return [{"type": "scatter", "mode": "lines", "x": [0, end], "y": base, "line": look, "hoverinfo": "skip"}]


def _floor(end: float) -> Figure:
    """Nothing to see: a second vertical axis exists only with something on it."""
    return {"type": "scatter", "mode": "lines", "x": [0, end], "y": [None, None], "yaxis": "y2", "hoverinfo": "skip"}


def _bands(each: "Line", x: str, scale: Scale, end: float) -> list[Band]:
    placed = [(at, a.primary) for a in each.story.attempts if a.methods and (at := _at(a, x, scale)) is not None]
    return bands_of(placed, _end(each, x, scale) or end)


def _labels(
    comparison: "Comparison", rows: "Sequence[tuple[Line, list[Band]]]", low: float, end: float, *, narrow: bool = False
) -> list[Figure]:
    """The lines' names at their ends, kept apart, and the bands' letters and names."""
    points = (1 - low) * (HEIGHT - 58)
    per = points / _top(comparison)
    finals = {each.place: each.story.new_bests[-1].best or 0.0 for each in comparison.lines if each.story.new_bests}
    heights = {place: best * per for place, best in finals.items()}
    if comparison.baseline is not None:
        heights[0] = comparison.baseline * per
    shifts = kept_apart(heights, LABEL)
    found = [
        end_label(_name(each, best, narrow), best, colour(each.place), shift=shifts[each.place])
        for each in comparison.lines
        if (best := finals.get(each.place)) is not None
    ]
    if comparison.baseline is not None:
        told = f"{'base ' if narrow else ''}{comparison.baseline:.2f}{'' if narrow else '  baseline'}"
        found.append(end_label(told, comparison.baseline, token("ink-2"), shift=shifts[0]))
    for at, (each, bands) in enumerate(rows):
        found.append(_letter(each, -at - 0.5))
        found += band_names(bands, -at - 0.5, "y2", end, narrow=narrow)
    return found


def _name(each: "Line", best: float, narrow: bool) -> str:
    return f"{each.letter} {best:.2f}" + ("" if narrow else f"  {plain(each.title, 28)}")


def _letter(each: "Line", height: float) -> Figure:
    place = {"xref": "paper", "x": 0, "xanchor": "right", "xshift": -8, "yref": "y2", "y": height}
    font = {"size": 12, "color": colour(each.place), "weight": 700}
    return place | {"text": each.letter, "showarrow": False, "font": font}
