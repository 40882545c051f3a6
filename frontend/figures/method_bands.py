"""Bands of methods over time: filled is reinforcement learning, grey preference, dashed merging, else supervised."""

from collections.abc import Sequence
from dataclasses import dataclass

from frontend.figures.style import Figure, token
from frontend.run_methods import method_class
from traces.methods.words import Method

NAMED_FROM = 0.06
"""Share of the axis that a band needs to carry its name; on a narrow screen three times that."""
LOOKS: dict[str, Figure] = {
    "rl": {"fillcolor": token("rl"), "line": {"color": token("rl"), "width": 1}},
    "pref": {"fillcolor": token("paper-3"), "line": {"color": token("edge"), "width": 1}},
    "merge": {"fillcolor": token("paper"), "line": {"color": token("edge"), "width": 1, "dash": "3px,2px"}},
    "": {"fillcolor": token("paper"), "line": {"color": token("edge"), "width": 1}},
}


@dataclass(frozen=True)
class Band:
    """A stretch of one method, from `start` to `end` on the horizontal axis."""

    start: float
    end: float
    method: Method


def bands_of(methods: Sequence[tuple[float, Method]], end: float) -> list[Band]:
    """From each submission's place and primary method. A stretch begins where its method arrives, the first at 0."""
    known = [(at, method) for at, method in methods if method is not Method.NONE]
    found: list[Band] = []
    for at, method in known:
        if found and found[-1].method is method:
            continue
        start = at if found else 0.0
        if found:
            found[-1] = Band(found[-1].start, start, found[-1].method)
        found.append(Band(start, end, method))
    return found


def band_shapes(bands: Sequence[Band], low: float, high: float, yref: str) -> list[Figure]:
    """Between `low` and `high` on the axis `yref`."""
    place = {"type": "rect", "xref": "x", "yref": yref, "y0": low, "y1": high, "layer": "above"}
    return [place | LOOKS[method_class(band.method)] | {"x0": band.start, "x1": band.end} for band in bands]


def band_names(bands: Sequence[Band], height: float, yref: str, end: float, *, narrow: bool = False) -> list[Figure]:
    """Names within the bands that have room for them."""
    least = NAMED_FROM * end * (3 if narrow else 1)
    return [
        {
            "xref": "x",
            "yref": yref,
            "x": (band.start + band.end) / 2,
            "y": height,
            "text": band.method.value,
            "showarrow": False,
            "font": {"size": 12, "color": token("paper") if method_class(band.method) == "rl" else token("ink-2")},
        }
        for band in bands
        if band.end - band.start >= least
    ]
