"""What counts as the answer to a GSM8K problem."""

import pytest

from benchmark.tasks.gsm8k.evaluator import (
    equal,
    gold_answer,
    last_number,
    marked_answer,
    reference_last_number,
    without_reasoning,
)


@pytest.mark.parametrize(
    ("text", "reference", "ours"),
    [
        ("The answer is 1,234", "234", "1234"),
        ("It is $1,234,567.", "567", "1234567"),
        ("#### 5\n\nTherefore 5 - 3", "3", "3"),
        ("Question: 2+2\nAnswer: 4", "NULL", "4"),
        ("The answer is 4\nQuestion: what is 7?", "4", "4"),
        ("1e3", "3", "3"),
        ("x = 1/2", "2", "2"),
        ("$18.00", "18.00", "18.00"),
        ("minus -7", "-7", "-7"),
        ("1,2,3", "3", "3"),
        ("12,3456", "3456", "3456"),
        ("3, 400", "400", "400"),
        ("no number", "NULL", "NULL"),
        ("", "NULL", "NULL"),
        ("<think>maybe 9</think>It is 8", "8", "8"),
        ("It is 8<think>or 9</think>", "8", "8"),
        ("maybe 9</think>It is 8", "8", "8"),
        ("<think>maybe 9", "9", "9"),
        ("<think>9</think>", "NULL", "NULL"),
    ],
)
def test_last_number(text: str, reference: str, ours: str) -> None:
    assert reference_last_number(text) == reference
    assert last_number(text) == ours


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [("18.00", "18", True), ("18", "18", True), ("18.5", "18", False), ("-3", "3", False), ("NULL", "0", False)],
)
def test_equal(answer: str, gold: str, right: bool) -> None:
    assert equal(answer, gold) is right


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("#### 1,234", "1234"),
        ("a #### 5 #### 6", "5"),
        ("#### 18.", "18."),
        ("####5", "NULL"),
        ("#### -2", "-2"),
        ("18", "NULL"),
    ],
)
def test_marked_answer(text: str, marked: str) -> None:
    assert marked_answer(text) == marked


def test_gold_answer() -> None:
    assert gold_answer("so\n#### 1,000") == "1000"


def test_without_reasoning_keeps_an_unclosed_thought() -> None:
    assert without_reasoning("<think>a</think>b<think>c") == "b<think>c"
