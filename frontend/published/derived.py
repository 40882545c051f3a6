"""What follows from the printed scores, computed: gains, the best and the worst row of each column, best observed."""

from collections.abc import Mapping, Sequence

from frontend.published.facts import ScoreRow
from frontend.published.reader import Scores

DIGITS = 2
"""The paper prints two decimals; a difference of two printed scores has no more."""


def gain(row: ScoreRow, task: str, baselines: Mapping[str, Mapping[str, float]]) -> float:
    """A row's score minus its base model's own, in points."""
    return round(row.scores[task] - baselines[row.base_model][task], DIGITS)


def gains(row: ScoreRow, scores: Scores) -> dict[str, float]:
    """The improvement on every task, by task id."""
    return {task: gain(row, task, scores.baselines) for task in scores.tasks}


def best_rows(rows: Sequence[ScoreRow], task: str) -> list[ScoreRow]:
    """The rows with the highest score of the column; ties share the star."""
    top = max(row.scores[task] for row in rows)
    return [row for row in rows if row.scores[task] == top]


def worst_rows(rows: Sequence[ScoreRow], task: str) -> list[ScoreRow]:
    """The rows with the lowest score of the column; none when all are equal."""
    low, top = min(row.scores[task] for row in rows), max(row.scores[task] for row in rows)
    return [row for row in rows if row.scores[task] == low] if low < top else []


def best_observed(rows: Sequence[ScoreRow], tasks: Sequence[str]) -> dict[str, float]:
    """The highest score of any row for each task: no single run made it."""
    return {task: max(row.scores[task] for row in rows) for task in tasks}


def rows_of(scores: Scores, table: str) -> list[ScoreRow]:
    """One table's rows in their printed order."""
    return [row for row in scores.rows if row.table == table]
