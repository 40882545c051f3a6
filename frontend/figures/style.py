"""What every figure shares. Colours are names of CSS tokens (`token:--accent`): the page puts in what its theme has."""

from typing import Any

Figure = dict[str, Any]
WHOLE_MOST = 8
"""Up to here an axis would be divided into halves of what can only be counted."""


def token(name: str) -> str:
    """A stand-in for the value of the CSS custom property `--<name>`."""
    return f"token:--{name}"


def axis(**values: Any) -> Figure:
    """A quiet axis that neither zooms nor drags, so that a touch scrolls the page."""
    line = {"color": token("ink-3"), "size": 12}
    return {
        "fixedrange": True,
        "zeroline": False,
        "gridcolor": token("rule"),
        "linecolor": token("edge"),
        "tickfont": line,
        "automargin": False,
        **values,
    }


def count_axis(what: str, most: int) -> Figure:
    """From zero to `most`, in whole numbers."""
    title = {"text": what, "font": {"size": 12, "color": token("ink-3")}}
    return axis(rangemode="tozero", title=title, **({"dtick": 1} if most <= WHOLE_MOST else {}))


def layout(**values: Any) -> Figure:
    """The paper, the ink and the type of a figure."""
    return {
        "paper_bgcolor": token("paper"),
        "plot_bgcolor": token("paper"),
        "font": {"family": token("sans"), "size": 12, "color": token("ink-2")},
        "hoverlabel": {
            "bgcolor": token("ink"),
            "bordercolor": token("ink"),
            "font": {"color": token("paper"), "family": token("sans"), "size": 12},
        },
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
        **values,
    }
