"""The formulas of the paper on cases worked by hand."""

import pytest

from benchmark.tasks.deepsearchqa.grades import NO_ANSWER, Grade


@pytest.mark.parametrize(
    ("counts", "precision", "recall", "f1"),
    [
        ((2, 0, 1), 2 / 3, 1.0, 0.8),
        ((2, 1, 1), 2 / 3, 2 / 3, 2 / 3),
        ((3, 0, 0), 1.0, 1.0, 1.0),
        ((0, 2, 0), 0.0, 0.0, 0.0),
        ((0, 2, 3), 0.0, 0.0, 0.0),
        ((1, 3, 0), 1.0, 0.25, 0.4),
    ],
)
def test_precision_recall_f1(counts: tuple[int, int, int], precision: float, recall: float, f1: float) -> None:
    grade = Grade(*counts)
    assert (grade.precision, grade.recall, grade.f1) == pytest.approx((precision, recall, f1))


def test_a_ruling_in_items() -> None:
    assert Grade.of({"A": True, "B": True, "C": False}, len(["D"])) == Grade(2, 1, 1)


@pytest.mark.parametrize(
    ("counts", "category", "all_stated"),
    [
        ((2, 0, 0), "fully_correct", True),
        ((2, 0, 1), "correct_with_extraneous", True),
        ((1, 1, 0), "partially_correct", False),
        ((1, 1, 4), "partially_correct", False),
        ((0, 2, 0), "fully_incorrect", False),
        ((0, 1, 1), "fully_incorrect", False),
    ],
)
def test_categories(counts: tuple[int, int, int], category: str, all_stated: bool) -> None:
    grade = Grade(*counts)
    assert (grade.category, grade.all_stated) == (category, all_stated)


def test_no_answer_is_worth_nothing() -> None:
    assert (NO_ANSWER.category, NO_ANSWER.f1, NO_ANSWER.all_stated) == ("fully_incorrect", 0.0, False)
