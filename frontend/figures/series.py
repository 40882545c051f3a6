"""What figures with several series share: colours with dashes, and labels at the lines' ends that keep apart."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from frontend.figures.style import Figure, token

DASHES = ("solid", "7px,3px", "2px,3px", "9px,3px,2px,3px")
SERIES = 8
Key = TypeVar("Key")


def colour(place: int) -> str:
    """Of the series at `place`, from 1."""
    return token(f"s{(place - 1) % SERIES + 1}")


def line(place: int, width: float = 2.0) -> Figure:
    """Colour and dash together, so that no series is told by colour alone."""
    return {"color": colour(place), "width": width, "dash": DASHES[(place - 1) % len(DASHES)], "shape": "hv"}


def ring(place: int, size: float = 7.0) -> Figure:
    return {"color": token("paper"), "size": size, "symbol": "circle", "line": {"color": colour(place), "width": 1.5}}


def kept_apart(heights: Mapping[Key, float], gap: float) -> dict[Key, float]:
    """How far up to move each label, so that none is nearer than `gap` to another; in the unit of `heights`."""
    order = sorted(heights, key=lambda key: -heights[key])
    placed = [heights[key] for key in order]
    for at in range(1, len(placed)):
        placed[at] = min(placed[at], placed[at - 1] - gap)
    drop = _mean([heights[key] - to for key, to in zip(order, placed, strict=True)])
    return {key: to + drop - heights[key] for key, to in zip(order, placed, strict=True)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def end_label(text: str, y: float, colour_of: str, *, shift: float = 0.0, yref: str = "y") -> Figure:
    """Text at the right edge of the plot, at height `y` moved up by `shift` pixels."""
    place = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 8, "yref": yref, "y": y, "yshift": round(shift, 1)}
    return place | {"text": text, "showarrow": False, "font": {"size": 12, "color": colour_of}}


def top_of(values: Sequence[float]) -> float:
    """The upper end of a free axis from 0: the highest value with room above it, never over 100 by more than that."""
    highest = max([value for value in values if value > 0], default=1.0)
    return min(highest * 1.08, 104.0) if highest < 100 else highest * 1.04


def plain(text: str, most: int = 60) -> str:
    """Text from outside for a figure: Plotly reads tags and entities, so none is left."""
    short = text if len(text) <= most else f"{text[: most - 1]}…"
    return short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("$", "&#36;")
