"""A map of gains: rows, columns, a colour for each step of the gain and its number as text."""

from collections.abc import Sequence
from dataclasses import dataclass

from frontend.figures.series import plain
from frontend.figures.style import Figure, axis, layout, token

STEPS = ("heat-n4", "heat-n3", "heat-n2", "heat-n1", "paper", "heat-p1", "heat-p2", "heat-p3", "heat-p4")

SHORT = 18
"""Characters of a row's name on a phone: its beginning, and its end, by which rows of one stack differ."""


@dataclass(frozen=True)
class Spot:
    """`heat` -4..4, None: not scored."""

    heat: int | None
    text: str
    hover: str = ""


def _short(row: str) -> str:
    return row if len(row) <= SHORT else f"{row[:8]}…{row[9 - SHORT :]}"


def heatmap(rows: Sequence[str], columns: Sequence[str], spots: Sequence[Sequence[Spot]]) -> Figure:
    """The first row on top. Titles come from outside and are made plain here. A phone has room for the marks alone."""
    count = len(STEPS)
    scale = [[(at + end) / count, token(name)] for at, name in enumerate(STEPS) for end in (0, 1)]
    names, widest = [plain(row, 44) for row in rows], max([len(row) for row in rows], default=0)
    look = layout(
        margin={"l": min(300, 16 + 7 * min(widest, 44)), "r": 8, "t": 28, "b": 8},
        xaxis=axis(side="top", showgrid=False, tickvals=list(range(len(columns))), ticktext=list(map(plain, columns))),
        yaxis=axis(autorange="reversed", showgrid=False, tickvals=list(range(len(rows))), ticktext=names),
    )
    short = [plain(_short(row.split(" (")[0]), SHORT) for row in rows]
    narrow = {
        "margin": look["margin"] | {"l": 132, "t": 20 + 7 * max([len(column) for column in columns], default=0)},
        "yaxis": look["yaxis"] | {"ticktext": short},
        "xaxis": look["xaxis"] | {"tickangle": -90},
    }
    trace = {
        "type": "heatmap",
        "z": [[spot.heat for spot in row] for row in spots],
        "text": [[spot.text for spot in row] for row in spots],
        "hovertext": [[plain(spot.hover, 200) for spot in row] for row in spots],
        "zmin": -4.5,
        "zmax": 4.5,
        "colorscale": scale,
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "texttemplate": "%{text}",
        "textfont": {"color": token("ink"), "size": 12},
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverongaps": False,
        "narrow": {"text": [["".join(sign for sign in "★▼≈" if sign in spot.text) for spot in row] for row in spots]},
    }
    return {"data": [trace], "layout": look, "narrow": narrow}
