"""The first page: the board, what it says, and how it is narrowed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from django.http import QueryDict

from frontend.board import Filters, Group, Panel, board_parts, panels_of
from frontend.board.findings import Findings, findings
from frontend.board.options import Option, options_of
from frontend.board.strips import Strip, strips

ALSO = ("rows", "theme")
"""Parameters of the page that narrow nothing."""
ROWS_SHOWN, ROWS_MOST = 20, 2000
"""Rows of a group on the first page, and when all of them are asked for."""
FIRST = ("level", "task", "agent", "driver", "mode", "budget")
MORE = ("base", "origin", "trust", "protocol")
HIDEABLE = (("mode", "Mode"), ("mean", "Mean gain"), ("runs", "Runs"), ("origin", "Origin, trust"))
LABELS = {"q": "Search", "from": "From", "to": "To", "sort": "Sorted by", "cols": "Columns", "hide": "Hidden"}


@dataclass(frozen=True)
class Chip:
    """One thing that is set, and the address's query without it."""

    label: str
    value: str
    without: str


@dataclass(frozen=True)
class Sort:
    """A column head: where it leads, and how the column is sorted now (`aria-sort`, empty: not)."""

    query: str
    now: str


@dataclass(frozen=True)
class LeaderboardPage:
    """All that the template shows."""

    filters: Filters
    panels: Sequence[Panel]
    options: dict[str, Option]
    everything: bool
    """Whether every row is shown."""

    @property
    def findings(self) -> Findings | None:
        return findings(self.panels)

    @property
    def strips(self) -> list[Strip]:
        return strips(self.panels)

    @property
    def first(self) -> list[Option]:
        return [self.options[name] for name in FIRST]

    @property
    def more(self) -> list[Option]:
        return [self.options[name] for name in MORE]

    @property
    def more_set(self) -> bool:
        """Whether the folded filters hold something that is set."""
        return bool({*MORE, "from", "to", "cols", "hide"} & set(self.filters.chosen))

    @property
    def hideable(self) -> tuple[tuple[str, str], ...]:
        return HIDEABLE

    @cached_property
    def chips(self) -> list[Chip]:
        return chips_of(self.filters, self.options)

    @property
    def sorts(self) -> dict[str, Sort]:
        """By column key."""
        keys = ["mean", "agent", "mode", "runs", *(column.task for panel in self.panels for column in panel.columns)]
        return {key: self._sort(key) for key in keys}

    def _sort(self, key: str) -> Sort:
        now = self.filters.sort
        if now.removeprefix("-") != key:
            return Sort(self.filters.with_sort(key if key in {"agent", "mode"} else f"-{key}"), "")
        falling = now.startswith("-")
        return Sort(self.filters.with_sort(key if falling else f"-{key}"), "descending" if falling else "ascending")


def chips_of(filters: Filters, options: dict[str, Option]) -> list[Chip]:
    """What is set, with its label and the way to unset it."""
    return [
        Chip(
            options[name].label if name in options else LABELS[name],
            dict(options[name].values).get(value, value) if name in options else value,
            filters.without(name, value),
        )
        for name, values in filters.chosen.items()
        for value in values
    ]


def leaderboard_of(query: QueryDict) -> LeaderboardPage:
    """Raises: BadQuery."""
    filters = Filters.read(query, also=ALSO)
    everything = query.get("rows") == "all"
    parts = board_parts(filters)
    panels = [_cut(panel, ROWS_MOST if everything else ROWS_SHOWN) for panel in panels_of(parts, filters)]
    return LeaderboardPage(filters, panels, options_of(filters, parts), everything)


def _cut(panel: Panel, most: int) -> Panel:
    return replace(panel, groups=tuple(_cut_group(group, most) for group in panel.groups))


def _cut_group(group: Group, most: int) -> Group:
    return replace(group, rows=group.rows[:most], hidden_rows=max(0, len(group.rows) - most))
