"""Grade `deepsearchqa`: up to five searches and one answer a question, compared with the reference by a judge.

Out of rounds without an answer, or an empty one, is fully incorrect: the checkpoint earned nothing. A search or a judge
that fails is nobody's zero: it ends the evaluation as a fault.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmark.tasks.contract import Episode, Item, Metrics, Outcome, Prompt, Record
from benchmark.tasks.services_contract import Hit, Services

from .grades import NO_ANSWER, Grade
from .judging import Ruling, judge
from .react import (
    HITS,
    MAX_TOKENS,
    NO_QUERY,
    NOT_UNDERSTOOD,
    ROUNDS,
    STOP,
    Move,
    Round,
    observation,
    prompt_text,
    read_last_move,
    read_move,
)

CATEGORIES = ("fully_incorrect", "partially_correct", "correct_with_extraneous")


class DeepSearchQA:
    """Protocol `deepsearchqa/1`."""

    protocol = "deepsearchqa/1"
    parallel_steps = 16
    """Episodes wait for searches and for the judge."""

    def __init__(self) -> None:
        self._services: Services | None = None

    def connect(self, services: Services) -> None:
        self._services = services

    def items(self, held_out: Path) -> Sequence[Item]:
        return _read(held_out / "questions.jsonl")

    def train_items(self, visible: Path) -> Sequence[Item]:
        return _read(visible / "train.jsonl")

    def episode(self, item: Item) -> Episode:
        question = item.payload["problem"]
        rounds: list[Round] = []
        steps: list[dict[str, Any]] = []
        while True:
            last = len(rounds) == ROUNDS - 1
            completion = yield Prompt(max_tokens=MAX_TOKENS, text=prompt_text(question, rounds), stop=STOP)
            move = read_last_move(completion.text) if last else read_move(completion.text)
            step: dict[str, Any] = {"action": move.kind, "argument": move.argument, "searched": False}
            steps.append(step)
            if move.kind == "answer":
                step["forced"] = last
                return self._outcome(item, move.argument, steps)
            seen = self._observe(move, step)
            step["observation"] = seen
            rounds.append(Round(move, seen))

    def metrics(self, records: Sequence[Record]) -> Metrics:
        """Shares in percent over all questions; precision, recall and F1 are means of the questions' own values.

        Standard error: 100 · sqrt(p (1 − p) / n), in points, of the share fully correct.
        """
        n = len(records)
        facts = [record.facts for record in records]
        right = sum(record.reward for record in records) / n
        steps = [step for fact in facts for step in fact["steps"]]
        return Metrics(
            score=100 * right,
            extra={
                "standard_error": 100 * math.sqrt(right * (1 - right) / n),
                "reference_accuracy": 100 * sum(bool(fact["all_stated"]) for fact in facts) / n,
                **{name: 100 * fmean(fact[name] for fact in facts) for name in ("precision", "recall", "f1")},
                **{f"{name}_percent": 100 * sum(fact["category"] == name for fact in facts) / n for name in CATEGORIES},
                "no_answer_percent": 100 * sum(record.answer is None for record in records) / n,
                "forced_answer_percent": 100 * sum(bool(fact["steps"][-1]["forced"]) for fact in facts) / n,
                "mean_searches": sum(step["searched"] for step in steps) / n,
                "invalid_action_percent": 100 * sum(step["action"] == "none" for step in steps) / len(steps),
            },
        )

    def _observe(self, move: Move, step: dict[str, Any]) -> str:
        if move.kind == "none":
            return NOT_UNDERSTOOD
        if not _says_something(move.argument):
            return NO_QUERY
        hits: Sequence[Hit] = self._connected.search(move.argument, count=HITS)
        step["searched"] = True
        step["urls"] = [hit.url for hit in hits]
        return observation([(hit.title, hit.url, hit.snippet) for hit in hits])

    def _outcome(self, item: Item, answer: str, steps: list[dict[str, Any]]) -> Outcome:
        if not _says_something(answer):
            return Outcome(0.0, answer=None, facts={"steps": steps, **_facts(NO_ANSWER, None)})
        row = item.payload
        ruling = judge(
            self._connected,
            question=row["problem"],
            kind=row["answer_type"],
            reference=row["answer"],
            response=answer,
        )
        grade = Grade.of(ruling.details, len(ruling.excessive))
        reward = float(grade.category == "fully_correct")
        return Outcome(reward, answer=answer, facts={"steps": steps, **_facts(grade, ruling)})

    @property
    def _connected(self) -> Services:
        if self._services is None:
            raise RuntimeError("deepsearchqa needs a search and a judge, and was connected to neither")
        return self._services


def _read(path: Path) -> list[Item]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Item(id=row["id"], payload=row) for row in rows]


def _facts(grade: Grade, ruling: Ruling | None) -> dict[str, Any]:
    """The grade, and the ruling it rests on: None where the judge was not asked because there was no answer."""
    return {
        "category": grade.category,
        "precision": grade.precision,
        "recall": grade.recall,
        "f1": grade.f1,
        "all_stated": grade.all_stated,
        "ruling": ruling
        and {
            "details": dict(ruling.details),
            "excessive": list(ruling.excessive),
            "explanation": ruling.explanation,
            "replies": ruling.replies,
        },
    }


def _says_something(text: str) -> bool:
    return any(letter.isalnum() for letter in text)


def evaluator() -> DeepSearchQA:
    return DeepSearchQA()
