"""The first page: the board, what it says, and how it is narrowed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from frontend.board import Filters, Group, Panel, Part, board_parts, panels_of
from frontend.board.findings import Findings, findings
from frontend.board.options import Option, options_of
from frontend.board.strips import strips

ALSO = ("rows", "theme")
"""Parameters of the page that narrow nothing."""
ROWS_SHOWN, ROWS_MOST = 20, 2000
"""Rows of a group on the first page, and when all of them are asked for."""
BOARDS_KEPT = 8
"""Boards that are not made again while what they are made of stays the same."""
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


@dataclass(frozen=True, eq=False)
class ShownBoard:
    """What a page shows of a board; made once for the same parts and filters."""

    filters: Filters
    panels: Sequence[Panel]

    @cached_property
    def findings(self) -> Findings | None:
        return findings(self.panels)

    @cached_property
    def strips_html(self) -> SafeString:
        """Empty without a strip."""
        found = strips(self.panels)
        return render_to_string("frontend/parts/strips.html", {"strips": found}) if found else SafeString()

    @cached_property
    def panels_html(self) -> SafeString:
        return render_to_string("frontend/parts/panels.html", {"page": self})

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


@dataclass(frozen=True)
class LeaderboardPage:
    """All that the template shows."""

    filters: Filters
    board: ShownBoard
    options: dict[str, Option]

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
    parts = board_parts(filters)
    most = ROWS_MOST if query.get("rows") == "all" else ROWS_SHOWN
    return LeaderboardPage(filters, _shown(tuple(parts), filters, most), options_of(filters, parts))


@lru_cache(maxsize=BOARDS_KEPT)
def _shown(parts: tuple[Part, ...], filters: Filters, most: int) -> ShownBoard:
    return ShownBoard(filters, [_cut(panel, most) for panel in panels_of(parts, filters)])


def _cut(panel: Panel, most: int) -> Panel:
    return replace(panel, groups=tuple(_cut_group(group, most) for group in panel.groups))


def _cut_group(group: Group, most: int) -> Group:
    return replace(group, rows=group.rows[:most], hidden_rows=max(0, len(group.rows) - most))
