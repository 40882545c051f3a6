"""Figure 4 of the paper: what the tasks ask for, on four axes from 1 to 5. One task, or all side by side."""

from collections.abc import Sequence

from frontend.board.known_tasks import task_title
from frontend.figures.style import Figure, layout, token
from frontend.published.facts import Design

LEVEL_COLOURS = {"L1": "s1", "L2": "s6", "L3": "s3"}
COLUMNS, NARROW_COLUMNS = 3, 2
SHORT = {"capability": "cap.", "interaction": "int.", "reward": "rew.", "horizon": "hor."}
"""The axes where two radars share a phone's width."""


def designs_figure(designs: Sequence[Design]) -> Figure:
    """Plain data for Plotly; at most three radars a row, two on a phone."""
    several = len(designs) > 1
    margin = {"l": 40, "r": 40, "t": 36, "b": 20}
    wide, narrow = _places(len(designs), COLUMNS), _places(len(designs), NARROW_COLUMNS)
    axes = list(designs[0].design) if designs else []
    short = [SHORT.get(axis, axis) for axis in axes]
    return {
        "data": [_trace(design, polar_name(number)) for number, design in enumerate(designs)],
        "layout": layout(margin=margin, **_layout(designs, wide, axes, named=several)),
        "narrow": _layout(designs, narrow if several else wide, short if several else axes, named=several),
    }


def polar_name(number: int) -> str:
    """As Plotly counts: `polar`, `polar2`, …"""
    return "polar" + (str(number + 1) if number else "")


def _places(count: int, most: int) -> list[tuple[list[float], list[float]]]:
    """Where each radar stands: its range across and down, in fractions of the figure."""
    columns = min(most, count)
    rows = -(-count // columns) if columns else 0
    found: list[tuple[list[float], list[float]]] = []
    for number in range(count):
        row, column = divmod(number, columns)
        gap = 0.13 if columns == NARROW_COLUMNS else 0.06
        across = [column / columns + gap, (column + 1) / columns - gap] if columns > 1 else [0.0, 1.0]
        down = [1 - (row + 1) / rows + 0.06, 1 - row / rows - 0.11] if rows > 1 else [0.0, 1.0]
        found.append((across, down))
    return found


def _layout(
    designs: Sequence[Design],
    places: Sequence[tuple[list[float], list[float]]],
    axes: Sequence[str],
    *,
    named: bool,
) -> Figure:
    found: Figure = {polar_name(number): _polar(*place, axes) for number, place in enumerate(places)}
    if named:
        found["annotations"] = [
            _title(design, sum(across) / 2, down[1] + 0.11)
            for design, (across, down) in zip(designs, places, strict=True)
        ]
    return found


def _polar(across: Sequence[float], down: Sequence[float], axes: Sequence[str]) -> Figure:
    tick = {"color": token("ink-3"), "size": 12}
    return {
        "domain": {"x": across, "y": down},
        "bgcolor": token("paper"),
        "radialaxis": {"range": [0, 5], "dtick": 1, "showticklabels": False, "gridcolor": token("rule"), "ticks": ""}
        | {"linecolor": token("rule")},
        "angularaxis": {"tickfont": tick, "gridcolor": token("rule"), "linecolor": token("edge"), "rotation": 90}
        | {"tickmode": "array", "tickvals": list(range(len(axes))), "ticktext": list(axes)},
    }


def _trace(design: Design, polar: str) -> Figure:
    axes = list(design.design)
    values = [design.design[axis] for axis in axes]
    colour = token(LEVEL_COLOURS.get(design.level, "s8"))
    return {
        "type": "scatterpolar",
        "subplot": polar,
        "name": task_title(design.task),
        "r": [*values, values[0]],
        "theta": [*axes, axes[0]],
        "mode": "lines+markers",
        "fill": "toself",
        "opacity": 0.85,
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 6},
        "hovertemplate": "%{theta}: %{r} of 5<extra></extra>",
    }


def _title(design: Design, x: float, y: float) -> Figure:
    return {
        "text": f"{task_title(design.task)}, {design.level}",
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "center",
        "yanchor": "top",
        "showarrow": False,
        "font": {"size": 13, "color": token("ink")},
    }
