"""The scores of all runs on a task: a line for each base model and origin, every run a mark, the baseline a bar."""

import html

from frontend.board import Group, Panel
from frontend.figures.style import Figure, axis, layout, token

MARKS_MOST = 3000
"""Of one line; of more, every n-th in the order of their scores."""


def task_scores_figure(groups: list[tuple[Panel, Group]]) -> Figure:
    """Plain data for Plotly; names are escaped, for Plotly reads some markup."""
    data: list[Figure] = []
    labels: list[str] = []
    for panel, group in reversed(groups):
        published = group.kind == "published"
        label = html.escape(f"{panel.base_model}<br>{'published' if published else ', '.join(group.protocol_names)}")
        labels.append(label.replace("&lt;br&gt;", "<br>"))
        place = len(labels) - 1
        values = sorted(value for row in group.rows for value in row.cells[0].values)
        data.append(_runs(values[:: len(values) // MARKS_MOST + 1], place, published=published))
        if (baseline := group.baselines[0].score) is not None:
            data.append(_baseline(baseline, place))
    height = 70 + 64 * len(labels)
    return {
        "data": data,
        "layout": layout(
            height=height,
            margin={"l": 170, "r": 16, "t": 8, "b": 44},
            xaxis=axis(range=[-2, 102], dtick=20, title={"text": "score", "font": {"size": 12}, "standoff": 4}),
            yaxis=axis(
                range=[-0.6, len(labels) - 0.4], tickvals=list(range(len(labels))), ticktext=labels, showgrid=False
            ),
        ),
        "narrow": {"margin": {"l": 120, "r": 12, "t": 8, "b": 44}},
    }


def _runs(values: list[float], place: int, *, published: bool) -> Figure:
    """Marks that would lie on each other are spread a little, always in the same way."""
    spread = [0.0, 0.14, -0.14, 0.28, -0.28]
    colour = token("ink-2") if published else token("accent")
    look = {"symbol": "diamond-open" if published else "circle", "size": 9, "color": colour, "opacity": 0.8}
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "published runs" if published else "runs",
        "x": values,
        "y": [place + spread[number % len(spread)] for number in range(len(values))],
        "marker": look | {"line": {"width": 1.5, "color": colour}},
        "hovertemplate": "%{x:.2f}<extra></extra>",
    }


def _baseline(score: float, place: int) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "base model as given",
        "x": [score, score],
        "y": [place - 0.38, place + 0.38],
        "line": {"color": token("ink"), "width": 3},
        "hovertemplate": "base model as given: %{x:.2f}<extra></extra>",
    }
