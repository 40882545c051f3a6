"""The train-visible problems as prompts and target texts, and the reward: does the last number match?"""

import json
import random
import re
from pathlib import Path
from typing import Any

CALCULATOR_NOTE = re.compile(r"<<[^>]*>>")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
THOUSANDS_COMMA = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
CLOSING = re.compile(r"The answer is -?[\d.,]*\d\.?\s*$")
FORM_REWARD = 0.1

Row = dict[str, Any]


def load(data: Path) -> list[dict[str, str]]:
    """Rows of `train.jsonl` with `question` and `answer`. Raises: SystemExit: there are none."""
    path = data / "train.jsonl"
    if not path.is_file():
        raise SystemExit(f"This agent needs {path} with a question and an answer in each line.")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if not rows or not {"question", "answer"} <= rows[0].keys():
        raise SystemExit(f"{path} has no questions and answers.")
    return rows


def prepare(rows: list[dict[str, str]], *, chat: bool, seed: int) -> list[Row]:
    """Shuffled rows of `prompt`, `completion` (both chat messages or both text) and `solution`, the number as text."""
    shuffled = random.Random(seed).sample(rows, len(rows))  # noqa: S311 — reproducible, not secret
    return [_chat_row(row) if chat else _text_row(row) for row in shuffled]


def _text_row(row: dict[str, str]) -> Row:
    return {"prompt": row["question"], "completion": row["answer"], "solution": row["answer"]}


def _chat_row(row: dict[str, str]) -> Row:
    worked, _, final = row["answer"].rpartition("#### ")
    number = THOUSANDS_COMMA.sub("", final.strip())
    target = f"{CALCULATOR_NOTE.sub('', worked).strip()}\nThe answer is {number}".strip()
    asked = f"Question: {row['question']}\nLet's think step by step\nAnswer:"
    return {
        "prompt": [{"role": "user", "content": asked}],
        "completion": [{"role": "assistant", "content": target}],
        "solution": number,
    }


def last_number(text: str) -> str | None:
    numbers = NUMBER.findall(THOUSANDS_COMMA.sub("", text))
    return numbers[-1] if numbers else None


def is_right(text: str, solution: str, *, chat: bool) -> bool:
    """Raw text must equal the solution; a chat answer must end in that number."""
    if not chat:
        return text.strip() == solution
    found = last_number(text)
    return found is not None and abs(float(found) - float(solution)) < 1e-6


def reward(completions: list[Any], solution: list[str], **_: Any) -> list[float | None]:
    """One number a completion: 1 for the right answer, and for a chat answer a little for its closing sentence."""
    return [_reward(completion, right) for completion, right in zip(completions, solution, strict=True)]


def _reward(completion: Any, solution: str) -> float:
    if isinstance(completion, str):
        return float(is_right(completion, solution, chat=False))
    text = completion[-1]["content"]
    return float(is_right(text, solution, chat=True)) + FORM_REWARD * bool(CLOSING.search(text))
