"""Where agent stacks improve a model: gain by stack and task (figure 7)."""

from collections.abc import Sequence

from frontend.analyses.board_rows import gain_cell, marks, row_title, spot
from frontend.analyses.contract import Analysis, Asked, Cell, Column, Kind, Table
from frontend.board import Group, Panel, Row, board
from frontend.board.known_tasks import task_title
from frontend.figures.heatmap import heatmap
from frontend.formats import gain, plural, score

ROWS = 60
"""Rows of one table; the figure has a third of them."""


def build(asked: Asked) -> Analysis:
    groups = [(panel, group) for panel in board(asked.filters) for group in panel.groups if group.rows]
    if not groups:
        return Analysis(empty="No run matches the filter.")
    tables = [_table(panel, group) for panel, group in groups]
    panel, group = max(groups, key=lambda each: len(each[1].rows))
    rows = group.rows[: ROWS // 3]
    starred = _marks(group, rows)
    figure = heatmap(
        [row_title(row) for row in rows],
        [column.title for column in group.columns],
        [[spot(c, m) for c, m in zip(row.cells, own, strict=True)] for row, own in zip(rows, starred, strict=True)],
    )
    return Analysis(
        reading=_reading([row for _, each in groups for row in each.rows]),
        tables=tables,
        figure=figure,
        figure_title=panel.base_model,
        panels=1 if len(rows) <= 6 else 4 if len(rows) <= 14 else 7,
        note="Stars and triangles compare the stacks on one task of one base model, under one protocol.",
        legend="heat",
    )


def _marks(group: Group, rows: Sequence[Row]) -> list[list[str]]:
    columns = [marks([row.cells[at] for row in rows]) for at in range(len(group.columns))]
    return [list(row) for row in zip(*columns, strict=True)]


def _table(panel: Panel, group: Group) -> Table:
    rows = group.rows[:ROWS]
    columns = [
        Column(column.title, f"baseline {score(base.score)}")
        for column, base in zip(group.columns, group.baselines, strict=True)
    ]
    head = [Column("Agent stack", "agent, driver, mode"), *columns, Column("Mean gain", number=True)]
    told = []
    for row, own in zip(rows, _marks(group, rows), strict=True):
        cells = [gain_cell(cell, mark) for cell, mark in zip(row.cells, own, strict=True)]
        average = Cell(None if row.mean_gain is None else round(row.mean_gain, 4), gain(row.mean_gain))
        told.append([Cell(row_title(row)), *cells, average])
    kind = "published" if group.kind == "published" else "run here or uploaded"
    more = f" {len(group.rows) - ROWS} more stacks are not shown." if len(group.rows) > ROWS else ""
    return Table(head, told, panel.base_model, f"Gain in points, score beneath; {kind}.{more}", heat=True)


def _reading(rows: Sequence[Row]) -> str:
    """How many results clearly improve, and where the largest gain is."""
    scored = [(row, cell) for row in rows for cell in row.cells if cell.gain is not None]
    if not scored:
        return "Nothing is scored against a baseline yet"
    clear = sum((cell.gain or 0) > 0 and not cell.approx for _, cell in scored)
    row, cell = max(scored, key=lambda each: each[1].gain or 0.0)
    told = f"{clear} of {plural(len(scored), 'result')} clearly improve on the base model"
    where = f"{row.stack.title}, {row.stack.mode_label}, on {task_title(cell.task)}"
    return f"{told}; the largest gain is {gain(cell.gain)}: {where}"


ANALYSIS = Kind(
    id="improvement",
    title="Where agents improve a model",
    short="Improvement map",
    about="Every agent stack on every task: gain over the base model as given.",
    paper="Figure 7; tables 2 and 16",
    place=30,
    build=build,
)
