"""Grade `alpacaeval`: 805 instructions, greedy, at most 512 tokens; a judge compares each output with a baseline's."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.tasks.contract import Episode, Flag, Item, Metrics, Outcome, Prompt, Record, Turn
from benchmark.tasks.services_contract import Services

from .flags import Judged, addresses_judge, flags, repeated_share
from .judging import Judgement, compare
from .length_control import Annotation, Gamed, LengthControlled, Weights, length_controlled
from .rates import standard_error, win_rate

MAX_TOKENS = 512
DRAW = Judgement(discrete=0.5, weighted=0.5, agrees=True)
SHIFT_POINTS, SHIFT_SHARE = 10.0, 0.25


class AlpacaEval:
    """Protocol `alpacaeval/1`; the judge's name follows it."""

    protocol = "alpacaeval/1"
    parallel_steps = 32
    """Episodes wait for the judge."""

    def __init__(self) -> None:
        self._services: Services | None = None
        self._gamed: list[Gamed] = []
        self._stand_ins: list[str] = []

    def connect(self, services: Services) -> None:
        self._services = services

    def items(self, held_out: Path) -> Sequence[Item]:
        """The instructions in the baseline file's order; the constants of the GLM are read with them."""
        self._gamed = [Gamed(**row) for row in _rows(held_out / "gamed.jsonl")]
        self._stand_ins = json.loads((held_out / "sources.json").read_text(encoding="utf-8"))["stand_ins"]
        return [Item(f"instruction-{number}", row) for number, row in enumerate(_rows(held_out / "instructions.jsonl"))]

    def episode(self, item: Item) -> Episode:
        """Raises: ServiceFault."""
        instruction, baseline = item.payload["instruction"], item.payload["output"]
        completion = yield Prompt(max_tokens=MAX_TOKENS, messages=(Turn("user", instruction),))
        output = completion.text
        identical = output == baseline
        judgement = DRAW if identical else compare(self._judge(), instruction, baseline, output)
        return Outcome(
            reward=judgement.discrete if judgement.weighted is None else judgement.weighted,
            answer=output,
            facts={
                "weighted": judgement.weighted,
                "discrete": judgement.discrete,
                "orders_agree": judgement.agrees,
                "identical": identical,
                "length": len(output),
                "baseline_length": len(baseline),
                "difficulty": item.payload["difficulty"],
                "addresses_judge": addresses_judge(output),
            },
        )

    def metrics(self, records: Sequence[Record]) -> Metrics:
        """Rates in percent, standard errors in points, lengths in characters.

        Preferences are the weighted ones where every judgement has one, else the discrete ones for all.
        """
        n, facts = len(records), [record.facts for record in records]
        weighted = all(fact["weighted"] is not None for fact in facts)
        preferences = [float(fact["weighted" if weighted else "discrete"]) for fact in facts]
        controlled = self._controlled(facts, preferences)
        raw = win_rate(preferences)
        judged = [fact for fact in facts if not fact["identical"]]
        outputs = [record.outputs[-1] for record in records]
        return Metrics(
            score=controlled.rate,
            extra={
                "standard_error": controlled.standard_error,
                "win_rate": raw,
                "win_rate_standard_error": standard_error(preferences),
                "discrete_win_rate": win_rate([float(fact["discrete"]) for fact in facts]),
                "n_judged": len(judged),
                "n_draws": sum(preference == 0.5 for preference in preferences),
                "orders_disagree_percent": 100 * sum(not fact["orders_agree"] for fact in judged) / max(len(judged), 1),
                "mean_length": sum(fact["length"] for fact in facts) / n,
                "mean_baseline_length": sum(fact["baseline_length"] for fact in facts) / n,
                "cut_off_percent": 100 * sum(record.finish_reason == "length" for record in records) / n,
                "constant_output_percent": 100 * repeated_share(outputs),
                "lc_is_approximate": float(bool(self._stand_ins)),
                "preferences_are_weighted": float(weighted),
                "glm_length": controlled.weights.length,
                "glm_difficulty": controlled.weights.difficulty,
                "glm_model": controlled.weights.model,
            },
            flags=(
                *flags([Judged(*pair) for pair in zip(outputs, preferences, strict=True)]),
                *doubts(self._stand_ins, raw, controlled.rate),
            ),
        )

    def _controlled(self, facts: Sequence[Any], preferences: Sequence[float]) -> LengthControlled:
        if all(fact["identical"] for fact in facts):
            # The baseline against itself wins half, by definition.
            return LengthControlled(50.0, 0.0, Weights(0.0, 0.0, 0.0))
        annotations = [
            Annotation(preference, fact["baseline_length"], fact["length"], fact["difficulty"])
            for fact, preference in zip(facts, preferences, strict=True)
        ]
        return length_controlled(annotations, self._gamed)

    def _judge(self) -> Services:
        if self._services is None:
            raise RuntimeError("no judge is connected")
        return self._services


def doubts(stand_ins: Sequence[str], raw: float, controlled: float) -> list[Flag]:
    """Why the length-controlled rate may be off."""
    found = []
    if stand_ins:
        message = "The length-controlled win rate is approximate: stand-ins were used for the GLM's published constants"
        found.append(Flag("W_LC_APPROXIMATE", message, {"files": list(stand_ins)}))
    low = raw - max(SHIFT_POINTS, SHIFT_SHARE * raw)
    high = raw + max(SHIFT_POINTS, SHIFT_SHARE * (100 - raw))
    if not low <= controlled <= high:
        message = f"The length-controlled win rate, {controlled:.1f} %, is far from the raw one, {raw:.1f} %"
        found.append(Flag("W_LC_SHIFT", message, {"raw": round(raw, 4), "length_controlled": round(controlled, 4)}))
    return found


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def evaluator() -> AlpacaEval:
    return AlpacaEval()
