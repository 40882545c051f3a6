"""What a board says, in sentences with their numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from frontend.board.known_tasks import LEVEL_WORDS
from frontend.board.parts import Kind
from frontend.board.rows import Cell, Column, Panel, Row
from frontend.formats import gain, plural, score

WORDS: dict[Kind, str] = {"here": "platform", "published": "published"}


@dataclass(frozen=True)
class Finding:
    """One cell with its place in the board."""

    panel: Panel
    row: Row
    column: Column
    cell: Cell

    @property
    def gain(self) -> float:
        return self.cell.gain or 0.0

    def __str__(self) -> str:
        told = f"{self.row.stack.title} on {self.column.title} with {self.panel.base_model}"
        return f"{told}, from {score(self.cell.baseline)} to {score(self.cell.score)}"


@dataclass(frozen=True)
class Findings:
    """Where gains are large, who makes them, and how sure that is. Empty sentences: nothing to say."""

    where: str
    who: str
    sure: str


def findings(panels: Sequence[Panel]) -> Findings | None:
    """Over published results or over ours, whichever are more, never over both; None: no score has a baseline."""
    by_kind = {kind: list(_all(panels, kind)) for kind in WORDS}
    kind = max(WORDS, key=lambda kind: len(by_kind[kind]))
    found = by_kind[kind]
    return Findings(_where(found), _who(found, WORDS[kind]), _sure(found, WORDS[kind])) if found else None


def _all(panels: Sequence[Panel], kind: Kind) -> Iterator[Finding]:
    for panel in panels:
        for group in (group for group in panel.groups if group.kind == kind):
            for row in group.rows:
                for column, cell in zip(group.columns, row.cells, strict=True):
                    if cell.gain is not None:
                        yield Finding(panel, row, column, cell)


def _where(found: Sequence[Finding]) -> str:
    top = max(found, key=lambda one: one.gain)
    told = f"The largest gain is {gain(top.gain)} points: {top}."
    others = [one for one in found if one.column.level != top.column.level]
    if not others:
        return told
    least = min({one.column.level for one in others}, key=lambda level: _most(others, level))
    words = LEVEL_WORDS.get(least, "").partition(",")[0]
    return f"{told} No {least} ({words}) task gains more than {gain(_most(others, least))}."


def _most(found: Sequence[Finding], level: str) -> float:
    return max(one.gain for one in found if one.column.level == level)


def _who(found: Sequence[Finding], kind: str) -> str:
    clear = sum(one.gain > 0 and not one.cell.approx for one in found)
    told = (
        f"{clear} of {plural(len(found), f'{kind} result')} lie above the base model by more than the standard error."
    )
    worst = min(found, key=lambda one: one.gain)
    if worst.gain >= 0 or worst.cell.approx:
        return told
    return f"{told} The largest loss is {gain(worst.gain)}: {worst}."


def _sure(found: Sequence[Finding], kind: str) -> str:
    several = sum(one.cell.runs > 1 for one in found)
    if not several:
        told = f"Every {kind} result is one run, so none has an interval."
        return f"{told} ≈ marks a gain below the score’s standard error."
    single = len(found) - several
    told = f"{plural(several, f'{kind} result')} of several runs: the mean, with its 95 % bootstrap interval."
    return told + (f" {single} of one run: no interval." if single else "")
