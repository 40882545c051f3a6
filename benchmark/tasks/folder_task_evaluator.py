"""Grades a per-sample folder with its own `eval.py`, inside the grading sandbox."""

import importlib.util
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from benchmark.tasks.contract import Episode, Item, Metrics, Outcome, Prompt, Record, Turn
from benchmark.tasks.folder_task_split import Row, question_text, read_rows
from benchmark.tasks.folder_task_yaml import BadFolder

if TYPE_CHECKING:
    from benchmark.tasks.folder_task_samples import SamplesRecipe

Evaluate = Callable[..., float]


class SamplesEvaluator:
    """One prompt for each held-out row."""

    def __init__(self, recipe: "SamplesRecipe") -> None:
        self._recipe = recipe
        self._evaluate = _load(recipe.folder / "eval.py")
        self.protocol = str(recipe.about["protocol"])

    def items(self, held_out: Path) -> Sequence[Item]:
        return [Item(id=f"row-{number}", payload=row) for number, row in enumerate(read_rows(held_out / "rows.jsonl"))]

    def episode(self, item: Item) -> Episode:
        """Raises: ScoringFault: `eval.py` is at fault."""
        text = question_text(dict(item.payload))
        tokens = self._recipe.max_tokens
        chat = self._recipe.prompt == "chat"
        prompt = Prompt(tokens, messages=(Turn("user", text),)) if chat else Prompt(tokens, text=text)
        completion = yield prompt
        score, raised = judged(self._evaluate, dict(item.payload), completion.text)
        return Outcome(reward=score, answer=completion.text, facts={"raised": raised} if raised else {})

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
                "raised_percent": 100 * sum("raised" in record.facts for record in records) / n,
                "cut_off_percent": 100 * sum(record.finish_reason == "length" for record in records) / n,
            },
        )


class ScoringFault(Exception):
    """`eval.py` raises for its own reference answer, or gives what is no score."""


def judged(evaluate: Evaluate, row: Row, answer: str) -> tuple[float, str]:
    """The score in 0..1, and what `eval.py` raised, if it did.

    An answer that makes it raise earns nothing as long as the reference answer does not make it raise too.

    Raises: ScoringFault.
    """
    extra = {key: value for key, value in row.items() if key not in ("question", "answer")}
    try:
        score = evaluate(row["question"], answer, row["answer"], **extra)
    except Exception as error:
        try:
            evaluate(row["question"], str(row["answer"]), row["answer"], **extra)
        except Exception as fault:
            raise ScoringFault(f"eval.py raises for its own reference answer: {fault!r}") from fault
        return 0.0, f"{type(error).__name__}: {error}"[:300]
    if not isinstance(score, int | float) or not 0 <= score <= 1:
        raise ScoringFault(f"eval.py gave {score!r}, which is not within 0 and 1")
    return float(score), ""


def _load(path: Path) -> Evaluate:
    spec: Any = importlib.util.spec_from_file_location("agent2_folder_eval", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not callable(getattr(module, "evaluate", None)):
        raise BadFolder(f"{path} defines no function evaluate.")
    return cast(Evaluate, module.evaluate)
