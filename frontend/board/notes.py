"""What stands below a group: scores a moderator changed, and what a paper prints twice and differently."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from frontend.board.known_tasks import task_title
from frontend.board.rows import Row
from frontend.formats import score

NOTES_MOST = 12


def noted(rows: Sequence[Row]) -> tuple[list[Row], tuple[str, ...]]:
    """The rows with the numbers of their notes, from 1, and the notes."""
    texts: list[str] = []
    numbers: dict[int, list[int]] = defaultdict(list)
    for places, text in [*_printed_twice(rows), *_flagged(rows)][:NOTES_MOST]:
        texts.append(text)
        for place in places:
            numbers[place].append(len(texts))
    return [replace(row, notes=tuple(numbers[place])) for place, row in enumerate(rows)], tuple(texts)


def _printed_twice(rows: Sequence[Row]) -> list[tuple[list[int], str]]:
    grouped: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        if row.stack.table:
            stack = replace(row.stack, table="")
            grouped[stack.agent, stack.driver, stack.mode, stack.budget_s].append(place)
    found = []
    for places in grouped.values():
        for cells in zip(*(rows[place].cells for place in places), strict=True):
            told = [(rows[p].stack.table, cell.score) for p, cell in zip(places, cells, strict=True) if cell.values]
            if len({value for _, value in told}) > 1:
                values = " and ".join(f"{score(value)} in table {table}" for table, value in sorted(told))
                title = task_title(cells[0].task)
                found.append((places, f"The paper prints two {title} scores for this stack: {values}. Both rows stay."))
    return found


def _flagged(rows: Sequence[Row]) -> list[tuple[list[int], str]]:
    return [
        (
            [place],
            f"{task_title(cell.task)}, run {flag.slug}: raw score {score(flag.raw)}, "
            f"final score {'withheld' if flag.final is None else score(flag.final)}: {flag.reason}",
        )
        for place, row in enumerate(rows)
        for cell in row.cells
        for flag in cell.flags
    ]
