"""Grade `arithmetic`: the checkpoint continues `a+b=`, and the whole continuation must be the sum."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

from benchmark.tasks.contract import Episode, Item, Metrics, Outcome, Prompt, Record

MAX_TOKENS = 8
"""The longest right answer has three digits and an end; the rest lets other tokenizers begin with a space."""


class Arithmetic:
    """Protocol `arithmetic/1`: greedy, raw text, exact match."""

    protocol = "arithmetic/1"

    def items(self, held_out: Path) -> Sequence[Item]:
        lines = (held_out / "items.jsonl").read_text(encoding="utf-8").splitlines()
        return [Item(id=row["id"], payload=row) for row in map(json.loads, lines)]

    def train_items(self, visible: Path) -> Sequence[Item]:
        lines = (visible / "train.jsonl").read_text(encoding="utf-8").splitlines()
        return [Item(id=f"train-{number}", payload=row) for number, row in enumerate(map(json.loads, lines))]

    def episode(self, item: Item) -> Episode:
        completion = yield Prompt(max_tokens=MAX_TOKENS, text=item.payload["question"], stop=("\n",))
        answer = completion.text.strip()
        return Outcome(
            reward=float(answer == item.payload["answer"]),
            answer=answer,
            facts={"expected": item.payload["answer"], "numeric": answer.isascii() and answer.isdigit()},
        )

    def metrics(self, records: Sequence[Record]) -> Metrics:
        """Score: 100 · the share of right answers. Standard error: 100 · sqrt(p (1 − p) / n), in points."""
        n = len(records)
        right = sum(record.reward for record in records) / n
        return Metrics(
            score=100 * right,
            extra={
                "standard_error": 100 * math.sqrt(right * (1 - right) / n),
                "cut_off_percent": 100 * sum(record.finish_reason == "length" for record in records) / n,
                "non_numeric_percent": 100 * sum(not record.facts["numeric"] for record in records) / n,
            },
        )


def evaluator() -> Arithmetic:
    return Arithmetic()
