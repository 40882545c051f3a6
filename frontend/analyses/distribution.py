"""How often each of a few names occurs in each group: a table of counts and a stacked figure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from frontend.analyses.contract import Cell, Column, Table
from frontend.figures.series import plain
from frontend.figures.style import Figure, axis, count_axis, layout, token

FILLS = ("s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8")
SHAPES = ("", "/", ".", "x", "-", "\\", "+", "|")
GROUPS = 24


def counted(pairs: Iterable[tuple[str, str]]) -> dict[str, Counter[str]]:
    """From `(group, name)`, the groups in the order of their first pair."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for group, name in pairs:
        found[group][name] += 1
    return dict(found)


def count_table(counts: dict[str, Counter[str]], names: Sequence[str], group: str, runs: dict[str, int]) -> Table:
    """A row for each group, a column for each name; `runs` is each group's number of runs."""
    head = [Column(group), *(Column(name, number=True) for name in names), Column("Runs", number=True)]
    rows = [
        [Cell(each), *(_count(own[name], runs[each]) for name in names), Cell(runs[each])]
        for each, own in counts.items()
    ]
    return Table(head, rows)


def _count(count: int, runs: int) -> Cell:
    share = f"{100 * count / runs:.0f}%" if runs and count else ""
    return Cell(count, str(count), small=share)


def count_figure(counts: dict[str, Counter[str]], names: Sequence[str]) -> Figure:
    """Bars from zero; each name has a colour with a pattern."""
    groups = list(counts)[:GROUPS]
    labels = [plain(group, 40) for group in groups]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": plain(name),
            "y": labels,
            "x": [counts[group][name] for group in groups],
            "marker": {
                "color": token(FILLS[at % 8]),
                "pattern": {"shape": SHAPES[at % 8], "fgcolor": token("paper"), "size": 6, "solidity": 0.25},
                "line": {"color": token("paper"), "width": 1},
            },
            "hovertemplate": f"%{{y}}: %{{x}} {plain(name)}<extra></extra>",
        }
        for at, name in enumerate(names)
    ]
    left = min(260, 16 + 7 * max([len(group) for group in groups], default=0))
    shown = layout(
        barmode="stack",
        margin={"l": left, "r": 16, "t": 44, "b": 36},
        xaxis=count_axis("runs", max((own.total() for own in counts.values()), default=0)),
        yaxis=axis(autorange="reversed", showgrid=False),
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
    )
    return {"data": data, "layout": shown, "narrow": {"margin": shown["margin"] | {"l": min(left, 130), "t": 96}}}


def rows_of_panels(groups: int) -> int:
    """How tall the figure is to be, as a number of panels."""
    return 1 if groups <= 6 else 4 if groups <= 14 else 7
