"""The leaderboard, for pages and API alike: `board(filters)`."""

from frontend.bad_query import BadQuery
from frontend.board.building import panels_of, sort_keys
from frontend.board.filters import Filters
from frontend.board.parts import Flag, Part, Stack
from frontend.board.reading import parts_read
from frontend.board.reasons import reasons_told
from frontend.board.rows import Cell, Column, Group, Panel, Row, Unranked

__all__ = [
    "Cell",
    "Column",
    "Filters",
    "Flag",
    "Group",
    "Panel",
    "Part",
    "Row",
    "Stack",
    "Unranked",
    "board",
    "board_parts",
    "panels_of",
]


def board(filters: Filters | None = None) -> list[Panel]:
    """Every panel that the filters leave; hidden runs never stand in one. At most four queries.

    Raises: BadQuery: there is no such column to sort by.
    """
    filters = filters or Filters()
    return panels_of(board_parts(filters), filters)


def board_parts(filters: Filters) -> list[Part]:
    """What the panels are made of. Raises: BadQuery."""
    if filters.sort.removeprefix("-") not in ("", *sort_keys()):
        raise BadQuery("sort", f"cannot be {filters.sort!r}. Columns are {', '.join(sort_keys())}.")
    return reasons_told(parts_read(filters))
