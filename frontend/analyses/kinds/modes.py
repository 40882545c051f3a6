"""What the instructions allow: the same agent stack under each mode (tables 3, 13 and 15, figure 5)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.models import Mode
from frontend.analyses.board_rows import gain_cell, marks, spot
from frontend.analyses.contract import Analysis, Asked, Cell, Column, Kind, Table
from frontend.board import Group, Panel, Row, board
from frontend.board.parameters import budget_words
from frontend.figures.heatmap import heatmap
from frontend.formats import gain, plural, score
from frontend.ranking import mean

ORDER = [str(mode.value) for mode in (Mode.SFT_ONLY, Mode.RL_ORIENTED, Mode.FREE, Mode.MULTI)]
SHOWN = 8


@dataclass(frozen=True)
class Ablation:
    """One agent stack on one base model, a row for each mode."""

    panel: Panel
    group: Group
    rows: Sequence[Row]

    @property
    def marks(self) -> list[list[str]]:
        """Of each row's cells."""
        columns = [marks([row.cells[at] for row in self.rows]) for at in range(len(self.group.columns))]
        return [list(row) for row in zip(*columns, strict=True)]

    @property
    def title(self) -> str:
        stack = self.rows[0].stack
        table = f", table {stack.table}" if stack.table else ""
        return f"{stack.title}, {stack.driver}, {self.panel.base_model}, {budget_words(stack.budget_s)}{table}"

    @property
    def reading(self) -> str:
        """Which mode is best on most tasks, and whether one is best on all."""
        compared = [at for at in range(len(self.group.columns)) if any(row[at] for row in self.marks)]
        if not compared:
            return "No task was run under two modes yet"
        stars = {row.stack.mode_label: sum(r[at] == "star" for at in compared) for row, r in self._paired}
        name = max(stars, key=lambda mode: stars[mode])
        told = f"{name} mode is best on {stars[name]} of {plural(len(compared), 'task')}"
        return told + ("" if stars[name] == len(compared) else "; no mode is best on all")

    @property
    def _paired(self) -> list[tuple[Row, list[str]]]:
        return list(zip(self.rows, self.marks, strict=True))

    def table(self) -> Table:
        columns = [
            Column(column.title, f"baseline {score(base.score)}")
            for column, base in zip(self.group.columns, self.group.baselines, strict=True)
        ]
        head = [Column("Mode"), *columns, Column("Mean gain", f"{len(columns)} tasks", number=True)]
        rows = []
        for row, own in self._paired:
            average = mean([cell.gain for cell in row.cells])
            total = Cell(None if average is None else round(average, 4), gain(average))
            cells = [gain_cell(cell, mark) for cell, mark in zip(row.cells, own, strict=True)]
            rows.append([Cell(row.stack.mode_label), *cells, total])
        return Table(head, rows, self.title, "Gain over the baseline in points, score beneath.", heat=True)


def ablations(panels: Sequence[Panel]) -> list[Ablation]:
    """Stacks with at least two modes, those with most scored cells first."""
    found = []
    for panel in panels:
        for group in panel.groups:
            stacks: dict[tuple[str, str, int, str], list[Row]] = defaultdict(list)
            for row in group.rows:
                stacks[row.stack.agent, row.stack.driver, row.stack.budget_s, row.stack.table].append(row)
            for rows in stacks.values():
                if len({row.stack.mode for row in rows}) > 1:
                    found.append(Ablation(panel, group, sorted(rows, key=lambda row: ORDER.index(row.stack.mode))))
    return sorted(found, key=lambda each: -sum(cell.score is not None for row in each.rows for cell in row.cells))


def build(asked: Asked) -> Analysis:
    found = ablations(board(asked.filters))
    if not found:
        return Analysis(empty="No agent stack has been run under two modes on one base model.")
    first = found[0]
    spots = [
        [spot(cell, mark) for cell, mark in zip(row.cells, own, strict=True)]
        for row, own in zip(first.rows, first.marks, strict=True)
    ]
    names = [row.stack.mode_label for row in first.rows]
    left = f" {len(found) - SHOWN} more stacks match; filter to see them." if len(found) > SHOWN else ""
    return Analysis(
        reading=first.reading,
        tables=[each.table() for each in found[:SHOWN]],
        figure=heatmap(names, [column.title for column in first.group.columns], spots),
        figure_title=first.title,
        panels=1,
        note="A cell with several runs is their mean. Marks compare the modes of one stack on one task." + left,
        legend="heat",
    )


ANALYSIS = Kind(
    id="modes",
    title="What the instructions allow",
    short="Modes",
    about="The same agent stack told to use any method, supervised fine-tuning only, reinforcement learning, or given "
    "all tasks at once.",
    paper="Tables 3, 13 and 15, figure 5",
    place=10,
    build=build,
)
