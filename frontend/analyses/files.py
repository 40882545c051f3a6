"""An analysis to take away: CSV with every value, LaTeX as it is shown."""

from collections.abc import Iterable

from frontend.analyses.contract import Analysis, Cell, Table
from frontend.csv_text import csv_text
from frontend.latex import latex_table


def analysis_csv(analysis: Analysis) -> str:
    """One line a row; of several tables the first column names each. A cell's second value has its own column."""
    several = len(analysis.tables) > 1
    if not analysis.tables:
        return ""
    head = _head(analysis.tables[0])
    parts = [csv_text([*(["table"] if several else []), *head], _rows(analysis.tables[0], several))]
    for table in analysis.tables[1:]:
        fresh = _head(table)
        text = csv_text(["table", *fresh], _rows(table, several))
        parts.append(text if fresh != head else text.split("\n", 1)[1])
        head = fresh
    return "".join(parts)


def _doubled(table: Table) -> list[bool]:
    """Which columns hold a second value."""
    return [any(row[at].small for row in table.rows if at < len(row)) for at in range(len(table.columns))]


def _head(table: Table) -> list[str]:
    found = []
    for column, doubled in zip(table.columns, _doubled(table), strict=True):
        found += [column.title, f"{column.title}, below"] if doubled else [column.title]
    return found


def _rows(table: Table, several: bool) -> Iterable[list[object]]:
    doubled = _doubled(table)
    for row in table.rows:
        told: list[object] = [table.title] if several else []
        for cell, twice in zip(row, doubled, strict=False):
            told += [_value(cell), cell.small or None] if twice else [_value(cell)]
        yield told


def _value(cell: Cell) -> object:
    if cell.methods:
        return " > ".join(name for name, _ in cell.methods)
    return cell.value if cell.value is not None else (cell.text if cell.text != "—" else None) or None


def analysis_latex(analysis: Analysis, used: str) -> str:
    """A `table` for each table; the caption holds the reading and the filter."""
    return "\n".join(
        latex_table(
            [column.title for column in table.columns],
            [[cell.plain for cell in row] for row in table.rows],
            caption=f"{analysis.reading}. {table.caption or table.title} Filter: {used}.",
            numbers=[column.number for column in table.columns],
        )
        for table in analysis.tables
    )
