"""The first figure: for each task the base model's score, every stack's, and the best. Drawn on the server as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass

from frontend.board.rows import Group, Panel
from frontend.formats import gain, score

LEFT, RIGHT, TOP, STEP = 96.0, 262.0, 24.0, 36.0
"""Pixels: where 0 and 100 points stand, the first task's line, and from one to the next."""
STRIPS_MOST, DOTS_MOST = 2, 40


@dataclass(frozen=True)
class Dot:
    """A stack's score, over or under the baseline."""

    x: float
    look: str


@dataclass(frozen=True)
class Line:
    """One task: pixels on the strip, and the best stack's score and gain in points."""

    title: str
    y: float
    baseline: float
    best: float
    dots: tuple[Dot, ...]
    score: float
    gain: float
    told: str

    @property
    def text_y(self) -> float:
        return self.y + 4

    @property
    def tick(self) -> tuple[float, float]:
        return self.y - 7, self.y + 7


@dataclass(frozen=True)
class Strip:
    """One group of one base model."""

    title: str
    lines: tuple[Line, ...]

    @property
    def foot(self) -> float:
        return TOP + STEP * len(self.lines) - 18

    @property
    def height(self) -> float:
        return self.foot + 22

    @property
    def label_y(self) -> float:
        return self.foot + 16

    @property
    def ticks(self) -> list[tuple[float, str]]:
        return [(_x(points), str(points)) for points in (0, 50, 100)]

    @property
    def label(self) -> str:
        return "Base model and best score per task: " + "; ".join(line.told for line in self.lines)


def strips(panels: Sequence[Panel]) -> list[Strip]:
    """Of the groups with the most tasks, at most STRIPS_MOST, in the board's order."""
    found = [strip for panel in panels for group in panel.groups if len((strip := _strip(panel, group)).lines) > 1]
    return found[:STRIPS_MOST]


def _strip(panel: Panel, group: Group) -> Strip:
    lines: list[Line] = []
    for place, column in enumerate(group.columns):
        baseline = group.baselines[place].score
        scores = [s for row in group.rows if (s := row.cells[place].score) is not None]
        if baseline is None or not scores:
            continue
        best = max(scores)
        told = f"{column.title} {score(baseline)} to {score(best)}, {gain(best - baseline)}"
        dots = tuple(Dot(_x(s), "under" if s < baseline else "over") for s in sorted(scores)[:-1][-DOTS_MOST:])
        y = TOP + STEP * len(lines)
        lines.append(Line(column.title, y, _x(baseline), _x(best), dots, best, best - baseline, told))
    made = {"published": "published", "here": "run here or uploaded"}[group.kind]
    return Strip(f"{panel.base_model}, {made}" if len(panel.groups) > 1 else panel.base_model, tuple(lines))


def _x(points: float) -> float:
    return round(LEFT + (RIGHT - LEFT) * points / 100, 1)
