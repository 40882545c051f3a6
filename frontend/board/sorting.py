"""The order of a group's rows. What is not scored is always last, whichever way the others go."""

from collections.abc import Callable, Sequence
from typing import Any

from frontend.board.rows import Column, Row


def rows_sorted(rows: Sequence[Row], columns: Sequence[Column], sort: str) -> list[Row]:
    """By rank, or by a column's key with `-` for the highest first. Ties: by stack."""
    by_name = sorted(rows, key=lambda row: row.stack)
    if not sort:
        return sorted(by_name, key=_standing)
    value = _value(sort.removeprefix("-"), columns)
    known = [row for row in by_name if value(row) is not None]
    unknown = [row for row in by_name if value(row) is None]
    return sorted(known, key=value, reverse=sort.startswith("-")) + unknown


def _standing(row: Row) -> tuple[bool, float, int]:
    """Ranked rows by their mean; the others by how much of the board they have scored."""
    mean = row.mean
    return mean is None, -(mean or 0.0), -row.scored


def _value(key: str, columns: Sequence[Column]) -> Callable[[Row], Any]:
    texts: dict[str, Callable[[Row], Any]] = {
        "mean": lambda row: row.mean_gain,
        "agent": lambda row: row.stack.title.lower(),
        "driver": lambda row: row.stack.driver.lower(),
        "mode": lambda row: row.stack.mode,
        "runs": lambda row: max((cell.runs for cell in row.cells), default=0),
    }
    place = next((number for number, column in enumerate(columns) if column.task == key), None)
    if place is not None:
        return lambda row: row.cells[place].score
    return texts.get(key, lambda _: None)
