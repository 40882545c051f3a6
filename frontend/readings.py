"""What the leaderboard says, in sentences with their numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from frontend.formats import plural
from frontend.leaderboard_rows import Cell, Column, Panel, Row


@dataclass(frozen=True)
class Finding:
    """One cell with its place in the board."""

    panel: Panel
    row: Row
    column: Column
    cell: Cell

    @property
    def improvement(self) -> float:
        return self.cell.improvement or 0.0


@dataclass(frozen=True)
class Findings:
    """The largest gain, how many stacks clearly improved, and how many runs that rests on."""

    largest: Finding | None
    scored: int
    clear: int
    runs: int

    @property
    def who(self) -> str:
        return (
            f"{self.clear} of {plural(self.scored, 'result')} lie above the base model by more than the standard error."
        )


def findings(panels: Sequence[Panel]) -> Findings:
    scored = [
        Finding(panel, row, column, cell)
        for panel in panels
        for row in panel.rows
        for column, cell in zip(panel.columns, row.cells, strict=True)
        if cell.improvement is not None
    ]
    return Findings(
        largest=max(scored, key=lambda finding: finding.improvement, default=None),
        scored=len(scored),
        clear=sum(finding.improvement > 0 and not finding.cell.approx for finding in scored),
        runs=sum(panel.runs for panel in panels),
    )
