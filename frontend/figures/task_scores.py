"""The scores of all runs on a task: a line for each base model and origin, every run a mark, the baseline a bar."""

from frontend.board import Group, Panel
from frontend.figures.series import plain
from frontend.figures.style import Figure, axis, layout, token

MARKS_MOST = 3000
"""Of one line; of more, every n-th in the order of their scores."""
WIDE, NARROW = 24, 16
"""Characters that a line's name has room for, on a phone the second."""


def task_scores_figure(groups: list[tuple[Panel, Group]]) -> Figure:
    """Plain data for Plotly; names are escaped, for Plotly reads some markup."""
    data: list[Figure] = []
    labels: list[tuple[str, str, str]] = []
    for panel, group in reversed(groups):
        published = group.kind == "published"
        labels.append((panel.base_model, panel.digest, _measure(group)))
        place = len(labels) - 1
        values = sorted(value for row in group.rows for value in row.cells[0].values)
        data.append(_runs(values[:: len(values) // MARKS_MOST + 1], place, published=published))
        if (baseline := group.baselines[0].score) is not None:
            data.append(_baseline(baseline, place))
    height = 70 + 64 * len(labels)
    lines = axis(
        range=[-0.6, len(labels) - 0.4], tickvals=list(range(len(labels))), ticktext=_told(labels, WIDE), showgrid=False
    )
    return {
        "data": data,
        "layout": layout(
            height=height,
            margin={"l": 170, "r": 16, "t": 8, "b": 44},
            xaxis=axis(range=[-2, 102], dtick=20, title={"text": "score", "font": {"size": 12}, "standoff": 4}),
            yaxis=lines,
        ),
        "narrow": {
            "margin": {"l": 122, "r": 12, "t": 8, "b": 44},
            "yaxis": lines | {"ticktext": _told(labels, NARROW)},
        },
    }


def _measure(group: Group) -> str:
    return "published" if group.kind == "published" else ", ".join(group.protocol_names)


def _told(labels: list[tuple[str, str, str]], most: int) -> list[str]:
    """A base model, the beginning of its digest where others have the same name, and the protocol below.

    Of a long name the end is kept: what an owner's models are told apart by.
    """
    return [
        plain(name if len(name) <= most else f"…{name[1 - most :]}", most)
        + (f"<br>{plain(digest)}" if digest else "")
        + f"<br>{plain(measure, most)}"
        for name, digest, measure in labels
    ]


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
