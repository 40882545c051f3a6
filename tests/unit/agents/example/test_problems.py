"""The example agent's prompts and rewards."""

import json
from pathlib import Path

import pytest

from benchmark.agents.example.problems import is_right, last_number, load, prepare, reward

WORD_PROBLEM = {"question": "How many?", "answer": "2 boxes of 700: <<2*700=1400>>1400.\n#### 1,400"}


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


def test_a_sum_stays_as_it_is() -> None:
    assert prepare([{"question": "1+2=", "answer": "3"}], chat=False, seed=1) == [
        {"prompt": "1+2=", "completion": "3", "solution": "3"}
    ]


def test_a_word_problem_becomes_chat_without_calculator_notes() -> None:
    (row,) = prepare([WORD_PROBLEM], chat=True, seed=1)
    assert row["prompt"][0]["content"] == "Question: How many?\nLet's think step by step\nAnswer:"
    assert row["completion"][0]["content"] == "2 boxes of 700: 1400.\nThe answer is 1400"
    assert row["solution"] == "1400"


@pytest.mark.parametrize(
    ("text", "number"),
    [("so 3, then 1,400.", "1400"), ("$18.50", "18.50"), ("-7 left", "-7"), ("none", None), ("12,5", "5")],
)
def test_last_number(text: str, number: str | None) -> None:
    assert last_number(text) == number


def test_numbers_match_by_value_in_chat_and_by_text_otherwise() -> None:
    assert is_right("The answer is 18.00", "18", chat=True)
    assert not is_right("18 or 19", "18", chat=True)
    assert not is_right("no idea", "18", chat=True)
    assert is_right("18 ", "18", chat=False)
    assert not is_right("018", "18", chat=False)


def test_rewards() -> None:
    assert reward(["3", "4"], ["3", "3"]) == [1.0, 0.0]
    answers = [said("It is 5.\nThe answer is 5"), said("5"), said("The answer is 6."), said("six")]
    assert reward(answers, ["5"] * 4, prompts=[]) == [1.1, 1.0, 0.1, 0.0]


@pytest.mark.parametrize("text", ["", json.dumps({"prompt": "1+2="}) + "\n"])
def test_other_data_is_refused_with_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "train.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match="no questions and answers"):
        load(tmp_path)


def test_no_data_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"needs .*train\.jsonl"):
        load(tmp_path)
