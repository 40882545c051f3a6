"""Grades a reasoning-gym data set: one chat turn a problem, scored by the data set."""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.tasks.contract import Episode, Item, Metrics, Outcome, Prompt, Record, Turn
from benchmark.tasks.reasoning_gym.guard import may_be_scored
from benchmark.tasks.reasoning_gym.problems import held_out_generator

if TYPE_CHECKING:
    from benchmark.tasks.reasoning_gym.recipe import GymRecipe

REQUEST = "\n\nEnd with your final answer between <answer> and </answer>."
TAGGED = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
OUTCOMES = ("no_answer", "refused", "too_costly", "raised")


class ScoringFault(Exception):
    """Ours: the data set does not score as it should."""


def tagged_answer(text: str) -> str | None:
    """What stands in the last `<answer>…</answer>`, or None."""
    found = TAGGED.findall(text)
    return found[-1].strip() if found else None


class GymEvaluator:
    """One prompt for each held-out problem."""

    def __init__(self, recipe: "GymRecipe") -> None:
        self._recipe = recipe
        self._generator = held_out_generator(recipe)
        self.protocol = recipe.protocol

    def items(self, held_out: Path) -> Sequence[Item]:
        """Raises: DataUnavailable; ScoringFault: the problems are not those that were prepared."""
        items = []
        for line in (held_out / "problems.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            problem = self._generator.problem(row["index"])
            if problem["sha256"] != row["sha256"]:
                raise ScoringFault(f"problem {row['index']} of {self._recipe.dataset} is generated differently here")
            items.append(
                Item(id=f"problem-{row['index']}", payload={"index": row["index"], "question": problem["question"]})
            )
        return items

    def episode(self, item: Item) -> Episode:
        """Raises: ScoringFault, DataUnavailable."""
        turn = Turn("user", item.payload["question"] + REQUEST)
        completion = yield Prompt(max_tokens=self._recipe.max_tokens, messages=(turn,))
        answer = tagged_answer(completion.text)
        reward, outcome = self._scored(item.payload["index"], answer)
        return Outcome(reward=reward, answer=answer, facts={"outcome": outcome})

    def _scored(self, index: int, answer: str | None) -> tuple[float, str]:
        if answer is None:
            return 0.0, "no_answer"
        if not may_be_scored(self._recipe.dataset, answer):
            return 0.0, "refused"
        found = self._generator.score(index, answer)
        if found is None:
            return 0.0, "too_costly"
        if "raised" in found:
            if not found["gold"]:
                raise ScoringFault(f"{self._recipe.dataset} cannot score its own answer: {found['raised']}")
            return 0.0, "raised"
        if not 0 <= found["score"] <= 1:
            raise ScoringFault(f"{self._recipe.dataset} gave the score {found['score']}")
        return found["score"], "scored"

    def metrics(self, records: Sequence[Record]) -> Metrics:
        """Score: 100 · mean. Standard error: 100 · sample standard deviation / sqrt(n), in points."""
        n = len(records)
        mean = math.fsum(record.reward for record in records) / n
        variance = math.fsum((record.reward - mean) ** 2 for record in records) / (n - 1) if n > 1 else 0.0
        return Metrics(
            score=100 * mean,
            extra={
                "standard_error": 100 * math.sqrt(variance / n),
                "full_marks_percent": 100 * sum(record.reward == 1 for record in records) / n,
                **{f"{kind}_percent": 100 * sum(r.facts["outcome"] == kind for r in records) / n for kind in OUTCOMES},
                "cut_off_percent": 100 * sum(record.finish_reason == "length" for record in records) / n,
            },
        )
