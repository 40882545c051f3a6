"""What stands below a group: scores a moderator changed, and what a paper prints twice and differently."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from frontend.board.known_tasks import task_title
from frontend.board.rows import Group, Row
from frontend.formats import score

NOTES_MOST = 12


def noted(group: Group, before: int) -> Group:
    """The group with its notes and each row with the numbers of its own; `before` notes stand above in the panel."""
    found = [*_printed_twice(group.rows), *_flagged(group.rows)][:NOTES_MOST]
    numbers: dict[int, list[int]] = defaultdict(list)
    for number, (places, _) in enumerate(found, start=before + 1):
        for place in places:
            numbers[place].append(number)
    rows = tuple(replace(row, notes=tuple(numbers[place])) for place, row in enumerate(group.rows))
    texts = tuple((number, text) for number, (_, text) in enumerate(found, start=before + 1))
    return replace(group, rows=rows, notes=texts)


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
