"""Best observed: for each task the best cell of a stack's several rows. No single run made such a row."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from frontend.board.parts import Stack
from frontend.board.rows import Cell, Row

PICKS_MOST = 4


def picks_of(rows: Sequence[Row]) -> list[Row]:
    """One for each agent with its driver that has several rows, the highest mean gain first; at most PICKS_MOST."""
    grouped: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.scored:
            grouped[row.stack.agent, row.stack.driver].append(row)
    picks = [_pick(own) for own in grouped.values() if len(own) > 1]
    return sorted(picks, key=lambda row: -(row.mean_gain if row.mean_gain is not None else -1e9))[:PICKS_MOST]


def _pick(own: Sequence[Row]) -> Row:
    first = own[0]
    cells = tuple(_best(column) for column in zip(*(row.cells for row in own), strict=True))
    stack = Stack(first.stack.agent, first.stack.driver, f"best of {len(own)}", first.stack.budget_s)
    tables = sorted({row.stack.table for row in own if row.stack.table})
    origins = tuple(sorted({origin for row in own for origin in row.origins}))
    return Row(replace(stack, table=", ".join(tables)), cells, first.counted, origins)


def _best(cells: Sequence[Cell]) -> Cell:
    """The cell with the highest single score, showing that score; of equal ones the first."""
    scored = [cell for cell in cells if cell.highest is not None]
    if not scored:
        return Cell(cells[0].task, cells[0].protocol, reason=cells[0].reason)
    best = max(scored, key=lambda cell: cell.highest or 0.0)
    alone = best.error if len(best.values) == 1 else None
    return replace(best, values=best.values[-1:], error=alone, best=False, flags=())
