"""Above the curve of a run: the method in use, and a mark where it was switched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from frontend.figures.method_bands import Band, band_names, band_shapes, bands_of
from frontend.figures.style import Figure, axis, token
from traces.methods.switches import MethodSwitch
from traces.methods.words import Method

TOP = 0.84
"""Upper end of the curve's own part of the plot, where a band stands above it."""
AXIS = "y3"


@dataclass(frozen=True)
class MethodMarks:
    """What is known of a run's methods: of each submission its primary one, and the switches."""

    methods: Mapping[int, Method]
    switches: Sequence[MethodSwitch] = ()


def method_layout() -> Figure:
    """The band's own axis: triangles below 1, the band between 1 and 2."""
    return {"yaxis3": axis(range=[0, 2], domain=[TOP + 0.02, 1], showgrid=False, showticklabels=False)}


def method_shapes(marks: MethodMarks, places: Mapping[int, float], now: float) -> list[Figure]:
    """The band's stretches, and a line down from each switch."""
    lines = [
        {"type": "line", "xref": "x", "yref": "paper", "x0": places[each.number], "x1": places[each.number]}
        | {"y0": 0.18, "y1": TOP + 0.02, "layer": "below"}
        | {"line": {"color": _colour(each), "width": 1.25, "dash": "solid" if each.is_success else "3px,3px"}}
        for each in marks.switches
        if each.number in places
    ]
    return [*band_shapes(_bands(marks, places, now), 1, 2, AXIS), *lines]


def method_names(marks: MethodMarks, places: Mapping[int, float], now: float, *, narrow: bool = False) -> list[Figure]:
    edge = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 6, "yref": AXIS, "y": 1.5, "showarrow": False}
    label = edge | {"text": "method", "font": {"size": 12, "color": token("ink-3")}}
    return [*band_names(_bands(marks, places, now), 1.5, AXIS, now, narrow=narrow), label]


def switch_marks(marks: MethodMarks, places: Mapping[int, float]) -> list[Figure]:
    """Upward and green where a switch raised the best score; downward and red where it did not."""
    found = []
    for good in (True, False):
        own = [each for each in marks.switches if bool(each.is_success) is good and each.number in places]
        if own:
            word = "up" if good else "down"
            shape = {"symbol": f"triangle-{word}", "size": 9, "color": token(word)}
            found.append(
                {
                    "type": "scatter",
                    "name": "switch" if good else "failed switch",
                    "mode": "markers",
                    "x": [places[each.number] for each in own],
                    "y": [0.45 for _ in own],
                    "yaxis": AXIS,
                    "marker": shape,
                    "cliponaxis": False,
                    "customdata": [each.number for each in own],
                    "hovertext": [_told(each) for each in own],
                    "hovertemplate": "%{hovertext}<extra></extra>",
                }
            )
    return found


def _bands(marks: MethodMarks, places: Mapping[int, float], now: float) -> list[Band]:
    placed = [(places[number], method) for number, method in sorted(marks.methods.items()) if number in places]
    return bands_of(placed, now)


def _colour(switch: MethodSwitch) -> str:
    return token("up" if switch.is_success else "down")


def _told(switch: MethodSwitch) -> str:
    told = {True: "raised the best score", False: "did not raise the best score", None: "was not scored"}
    change = f"{switch.before.value} to {switch.after.value}"
    return f"Submission {switch.number}: {change}, {told[switch.is_success]}"
