"""What a judge's ruling on one answer is worth.

Source: DeepSearchQA (arXiv 2601.20975), section on metrics. With S the submitted and G the reference items:
true positives are the items of G that the answer states, false negatives the others, false positives what it gives
beyond G; precision TP/(TP+FP), recall TP/(TP+FN), F1 their harmonic mean.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Category = Literal["fully_correct", "fully_incorrect", "partially_correct", "correct_with_extraneous"]


@dataclass(frozen=True)
class Grade:
    """Counts of items. No answer at all is TP = FP = 0."""

    true_positives: int
    false_negatives: int
    false_positives: int

    @classmethod
    def of(cls, details: Mapping[str, bool], excessive: int) -> "Grade":
        """Of each reference item whether it is stated, and how many answers are beyond the reference."""
        stated = sum(details.values())
        return cls(stated, len(details) - stated, excessive)

    @property
    def precision(self) -> float:
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        return _share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float:
        return _share(2 * self.true_positives, 2 * self.true_positives + self.false_positives + self.false_negatives)

    @property
    def category(self) -> Category:
        """S = G; S ∩ G = ∅; G within S; or some of G."""
        if self.true_positives == 0:
            return "fully_incorrect"
        if self.false_negatives:
            return "partially_correct"
        return "correct_with_extraneous" if self.false_positives else "fully_correct"

    @property
    def all_stated(self) -> bool:
        """What the reference benchmark calls correct: extras are not punished."""
        return self.true_positives > 0 and self.false_negatives == 0


NO_ANSWER = Grade(0, 1, 0)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
