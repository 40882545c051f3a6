"""Grade `humaneval`: one chat turn, greedy; the function passes when the problem's own tests do."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

from benchmark.tasks.contract import Episode, Item, Metrics, Outcome, Prompt, Record, Turn

from .court import Court

MAX_TOKENS = 2048
"""Five times the longest published solution, and room to think; the reference implementation allows 8,192."""
REQUEST = (
    "Here is the beginning of a Python program: a function's signature and its docstring. Complete the function so "
    "that it does what the docstring says. Answer with the code of the function and nothing else.\n\n"
)
FAILURES = ("no_code", "syntax_error", "time_out", "wrong_answer", "error")


class HumanEval:
    """Protocol `humaneval/1`: pass@1 on HumanEval/82 to /163."""

    protocol = "humaneval/1"

    def __init__(self) -> None:
        self._court = Court()

    def items(self, held_out: Path) -> Sequence[Item]:
        return _read(held_out / "problems.jsonl")

    def train_items(self, visible: Path) -> Sequence[Item]:
        return _read(visible / "train.jsonl")

    def episode(self, item: Item) -> Episode:
        """Raises: CourtFault: completions cannot be tried safely here."""
        request = Turn("user", REQUEST + item.payload["prompt"])
        completion = yield Prompt(max_tokens=MAX_TOKENS, messages=(request,))
        found = self._court.outcome(item.payload, completion.text)
        return Outcome(
            reward=float(found.kind == "passed"),
            answer=found.program.removeprefix(item.payload["prompt"]).strip("\n") or None,
            facts={"outcome": found.kind, "detail": found.detail, "reference_passed": found.reference_passed},
        )

    def metrics(self, records: Sequence[Record]) -> Metrics:
        """Shares in percent. Standard error: 100 · sqrt(p (1 − p) / n), in points."""
        n = len(records)
        passed = sum(record.reward for record in records) / n
        return Metrics(
            score=100 * passed,
            extra={
                "standard_error": 100 * math.sqrt(passed * (1 - passed) / n),
                "reference_accuracy": 100 * sum(bool(r.facts["reference_passed"]) for r in records) / n,
                **{f"{kind}_percent": 100 * sum(r.facts["outcome"] == kind for r in records) / n for kind in FAILURES},
                "cut_off_percent": 100 * sum(r.finish_reason == "length" for r in records) / n,
            },
        )


def _read(path: Path) -> list[Item]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Item(id=row["task_id"], payload=row) for row in rows]


def evaluator() -> HumanEval:
    return HumanEval()
