"""Grade `gsm8k`: four worked examples as chat turns, one question, greedy, at most 512 tokens, the last number counts.

The prompts and the token limit are those of OpenCompass 0.5.1's `gsm8k_gen_1d7fe4` as far as the prompt's questions
go. `reference_accuracy` is what its extractor makes of the same outputs; `strict_accuracy` is the first rule published
with the data set (`#### n`, compared as text).
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmark.tasks.contract import Episode, Item, Metrics, Outcome, Prompt, Record, Turn

from .examples import worked_examples

MAX_TOKENS = 512
TOLERANCE = 1e-6
NUMBER = re.compile(r"-?\d+\.\d+|-?\d+")
THOUSANDS_COMMA = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
MARKED_ANSWER = re.compile(r"#### (-?[0-9.,]+)")
NO_ANSWER = "NULL"


def question_turn(question: str) -> Turn:
    return Turn("user", f"Question: {question}\nLet's think step by step\nAnswer:")


def without_reasoning(text: str) -> str:
    """The text outside `<think>…</think>`; an unclosed `<think>` hides nothing, text before a lone `</think>` goes."""
    if "</think>" in text and "<think>" not in text:
        return text.rpartition("</think>")[2].strip()
    return re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL).strip()


def last_number(text: str) -> str:
    """The last number after removing thousands separators, or `NULL`.

    What follows a further `Question:` is no longer the answer to ours. One that opens the text only echoes the prompt.
    """
    answer = without_reasoning(text).removeprefix("Question:").split("Question:")[0]
    return _last(THOUSANDS_COMMA.sub("", answer))


def reference_last_number(text: str) -> str:
    """As OpenCompass 0.5.1 extracts it: a comma ends a number, and an echoed `Question:` leaves nothing."""
    return _last(without_reasoning(text).split("Question:")[0])


def marked_answer(text: str) -> str:
    """The number after the first `#### `, commas removed, or `NULL`."""
    found = MARKED_ANSWER.search(text)
    return found[1].replace(",", "") if found else NO_ANSWER


def gold_answer(solution: str) -> str:
    """The number after `#### ` of a row's solution, commas removed."""
    return solution.rpartition("#### ")[2].strip().replace(",", "")


def equal(answer: str, gold: str) -> bool:
    """Equal as text or as numbers."""
    return answer == gold or (answer != NO_ANSWER and abs(float(answer) - int(gold)) < TOLERANCE)


def _last(text: str) -> str:
    numbers = NUMBER.findall(text)
    return numbers[-1] if numbers else NO_ANSWER


def _problems(part: str, rows: Sequence[Mapping[str, str]], examples: Sequence[Mapping[str, str]]) -> list[Item]:
    turns = tuple(
        turn for row in examples for turn in (question_turn(row["question"]), Turn("assistant", row["answer"]))
    )
    return [Item(id=f"{part}-{number}", payload={"examples": turns, **row}) for number, row in enumerate(rows)]


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Gsm8k:
    """Protocol `gsm8k/1`."""

    protocol = "gsm8k/1"

    def items(self, held_out: Path) -> Sequence[Item]:
        return _problems("test", _rows(held_out / "test.jsonl"), _rows(held_out / "examples.jsonl"))

    def train_items(self, visible: Path) -> Sequence[Item]:
        rows = _rows(visible / "train.jsonl")
        return _problems("train", rows, worked_examples(rows))

    def episode(self, item: Item) -> Episode:
        messages = (*item.payload["examples"], question_turn(item.payload["question"]))
        completion = yield Prompt(max_tokens=MAX_TOKENS, messages=messages)
        gold = gold_answer(item.payload["answer"])
        answer = last_number(completion.text)
        return Outcome(
            reward=float(equal(answer, gold)),
            answer=answer,
            facts={
                "reference_correct": equal(reference_last_number(completion.text), gold),
                "strict_correct": marked_answer(completion.text) == gold,
            },
        )

    def metrics(self, records: Sequence[Record]) -> Metrics:
        """Shares in percent. Standard error: 100 · sqrt(p (1 − p) / n), in points."""
        n = len(records)
        right = sum(record.reward for record in records) / n
        return Metrics(
            score=100 * right,
            extra={
                "standard_error": 100 * math.sqrt(right * (1 - right) / n),
                "reference_accuracy": 100 * sum(bool(r.facts["reference_correct"]) for r in records) / n,
                "strict_accuracy": 100 * sum(bool(r.facts["strict_correct"]) for r in records) / n,
                "cut_off_percent": 100 * sum(r.finish_reason == "length" for r in records) / n,
            },
        )


def evaluator() -> Gsm8k:
    return Gsm8k()
