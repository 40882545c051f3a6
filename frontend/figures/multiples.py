"""Small multiples: panels of one kind, three abreast, or one below the other on a phone."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from frontend.figures.series import plain
from frontend.figures.style import Figure, axis, layout, token

ABREAST = 3
GAP_X, TITLE = 0.055, 0.23
"""Shares of the width between panels, and of a panel's height for its title and axis."""


@dataclass(frozen=True)
class Panel:
    """`title` and `note` come from outside and are made plain; `traces` and `shapes` name no axes yet."""

    title: str
    note: str
    traces: Sequence[Figure]
    x_end: float
    y_end: float
    shapes: Sequence[Figure] = ()
    labels: Sequence[Figure] = field(default_factory=tuple)
    """Annotations in the panel's own coordinates."""
    own_ticks: bool = False
    """Whether its labels stand for the horizontal ticks."""


def multiples(panels: Sequence[Panel], x_title: str) -> Figure:
    """Plain data; `narrow` is the layout with one panel a row."""
    wide = _layout(panels, ABREAST, x_title)
    data = [trace | _axes(at) for at, panel in enumerate(panels) for trace in panel.traces]
    narrow = _layout(panels, 1, x_title)
    return {"data": data, "layout": wide, "narrow": narrow}


def _axes(at: int) -> dict[str, str]:
    return {"xaxis": f"x{at + 1 if at else ''}", "yaxis": f"y{at + 1 if at else ''}"}


def _layout(panels: Sequence[Panel], abreast: int, x_title: str) -> Figure:
    rows = -(-len(panels) // abreast) or 1
    width = (1 - GAP_X * (abreast - 1)) / abreast
    found: dict[str, Any] = {}
    shapes, labels = [], []
    for at, panel in enumerate(panels):
        row, column = divmod(at, abreast)
        left, top = column * (width + GAP_X), 1 - row / rows
        low, high = top - (1 - 0.09) / rows, top - TITLE * 0.62 / rows
        number = at + 1 if at else ""
        found[f"xaxis{number}"] = axis(
            domain=[left, left + width], anchor=f"y{number}", range=[0, panel.x_end], showgrid=False, showline=True,
            nticks=5, ticks="outside", ticklen=3, showticklabels=not panel.own_ticks,
        )  # fmt: skip
        found[f"yaxis{number}"] = axis(
            domain=[low + 0.08 / rows, high], anchor=f"x{number}", range=[0, panel.y_end], nticks=4
        )
        shapes += [shape | {"xref": f"x{number}", "yref": f"y{number}"} for shape in panel.shapes]
        labels += [label | {"xref": f"x{number}", "yref": f"y{number}"} for label in panel.labels]
        labels += _heads(panel, left, left + width, top)
    labels.append(_text(x_title, 1, 0, "right", token("ink-3")))
    return layout(margin={"l": 34, "r": 12, "t": 4, "b": 20}, shapes=shapes, annotations=labels, **found)


def _heads(panel: Panel, left: float, right: float, top: float) -> list[Figure]:
    title = _text(plain(panel.title, 34), left, top, "left", token("ink"), weight=700)
    return [title, _text(plain(panel.note, 40), right, top, "right", token("ink-3"))]


def _text(text: str, x: float, y: float, anchor: str, colour: str, *, weight: int = 400) -> Figure:
    place = {"xref": "paper", "yref": "paper", "x": x, "y": y, "xanchor": anchor, "yanchor": "top", "showarrow": False}
    return place | {"text": text, "font": {"size": 12, "color": colour, "weight": weight}}
