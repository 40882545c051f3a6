"""What a checkpoint saw and wrote in one episode of an interactive task, step by step, from the episode's record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from frontend.trace_text import harmless

TURNS_MOST = 200
TEXT_MOST = 20_000
TEXTS = ("shown", "observation")


@dataclass(frozen=True)
class Turn:
    """One step. What is not known is empty."""

    number: int
    shown: str
    """What the environment showed before it."""
    output: str
    """What the checkpoint wrote."""
    told: str
    """What the environment answered."""
    facts: Sequence[tuple[str, str]]


def turns(told: Mapping[str, Any], outputs: Sequence[str]) -> list[Turn]:
    """The steps of a record as `samples.jsonl` holds it; none where the task has a single answer."""
    facts = told.get("facts")
    if not isinstance(facts, dict):
        return []
    steps, observations = _list(facts.get("steps")), _list(facts.get("observations"))
    if not steps and not observations:
        return []
    return [
        _turn(at + 1, output, _at(steps, at), _at(observations, at)) for at, output in enumerate(outputs[:TURNS_MOST])
    ]


def _turn(number: int, output: str, step: object, observation: object) -> Turn:
    known = step if isinstance(step, dict) else {}
    simple = [
        (name, value) for name, value in known.items() if name not in TEXTS and not isinstance(value, dict | list)
    ]
    return Turn(
        number=number,
        shown=_text(known.get("shown")),
        output=output,
        told=_text(known.get("observation") if observation is None else observation),
        facts=[(_text(name)[:40], _text(value)[:500]) for name, value in simple[:20]],
    )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _at(values: Sequence[object], place: int) -> object:
    return values[place] if place < len(values) else None


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else harmless(str(value))[:TEXT_MOST]
