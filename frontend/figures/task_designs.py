"""Figure 4 of the paper: what the tasks ask for, on four axes from 1 to 5. One task, or all side by side."""

from collections.abc import Sequence

from frontend.board.known_tasks import task_title
from frontend.figures.style import Figure, layout, token
from frontend.published.facts import Design

LEVEL_COLOURS = {"L1": "s1", "L2": "s6", "L3": "s3"}
COLUMNS = 3


def designs_figure(designs: Sequence[Design]) -> Figure:
    """Plain data for Plotly; at most three radars a row."""
    rows = -(-len(designs) // COLUMNS)
    columns = min(COLUMNS, len(designs))
    figure: Figure = {"data": [], "layout": layout(margin={"l": 40, "r": 40, "t": 36, "b": 20}, annotations=[])}
    for number, design in enumerate(designs):
        name = "polar" + (str(number + 1) if number else "")
        row, column = divmod(number, columns)
        across = [column / columns + 0.05, (column + 1) / columns - 0.05] if columns > 1 else [0, 1]
        down = [1 - (row + 1) / rows + 0.04, 1 - row / rows - 0.09] if rows > 1 else [0, 1]
        figure["layout"][name] = _polar(across, down)
        figure["data"].append(_trace(design, name))
        if len(designs) > 1:
            figure["layout"]["annotations"].append(_title(design, sum(across) / 2, 1 - row / rows))
    return figure


def _polar(across: Sequence[float], down: Sequence[float]) -> Figure:
    tick = {"color": token("ink-3"), "size": 12}
    return {
        "domain": {"x": across, "y": down},
        "bgcolor": token("paper"),
        "radialaxis": {"range": [0, 5], "dtick": 1, "showticklabels": False, "gridcolor": token("rule"), "ticks": ""}
        | {"linecolor": token("rule")},
        "angularaxis": {"tickfont": tick, "gridcolor": token("rule"), "linecolor": token("edge"), "rotation": 90},
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
