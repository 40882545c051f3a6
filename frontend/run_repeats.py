"""How far a submission's score repeats: the first grading of its files, and those that were asked for since."""

from collections.abc import Sequence
from dataclasses import dataclass

from frontend.statistics import run_deviation
from grading.models import Evaluation, EvaluationState, Submission


@dataclass(frozen=True)
class Gradings:
    """All evaluations of the same files under one protocol and engine; `first` is the one whose score counts."""

    first: Evaluation
    again: Sequence[Evaluation]

    @property
    def rows(self) -> Sequence[Evaluation]:
        return [self.first, *self.again]

    @property
    def scores(self) -> list[float]:
        """Of those that are done, 0 to 100."""
        verdicts = [row.verdict for row in self.rows]
        return [each.score for each in verdicts if each is not None and each.score is not None]

    @property
    def low(self) -> float:
        return min(self.scores)

    @property
    def high(self) -> float:
        return max(self.scores)

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation in points; None for fewer than two scores."""
        return run_deviation(self.scores)

    @property
    def waiting(self) -> int:
        return sum(row.state in (EvaluationState.QUEUED, EvaluationState.RUNNING) for row in self.again)


def gradings_of(submission: Submission) -> Gradings | None:
    """None where the submission was not graded here."""
    first = submission.evaluation
    if first is None or first.verdict is None or first.verdict.score is None:
        return None
    return Gradings(first, list(Evaluation.objects.all().repeats_of(first).select_related("verdict")))
