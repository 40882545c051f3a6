"""Inside a record or document of a transcript: what was called, and how trajectories hang together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from bundles.dialects.values import rows, table, whole, word

CALLS = frozenset({"input", "arguments", "args", "command", "cmd", "parameters", "code"})
"""Members whose texts are what an agent did, not what it was told or saw."""


class Traced(Protocol):
    """The part of a transcript's facts that a document fills in."""

    path: str
    tokens: int | None
    tokens_summed: int | None
    edges: list[tuple[str, str]]


def call_texts(value: Any) -> Iterator[str]:
    """Every text inside the arguments of a call."""
    pending: list[tuple[Any, bool]] = [(value, False)]
    while pending:
        item, inside = pending.pop()
        if isinstance(item, str):
            if inside:
                yield item
        elif isinstance(item, dict):
            pending.extend((each, inside or name in CALLS) for name, each in item.items())
        elif isinstance(item, list):
            pending.extend((each, inside) for each in item)


def atif_read_into(value: dict[str, Any], facts: Traced, outer: str = "") -> None:
    name = word(value.get("trajectory_id")) or word(value.get("session_id")) or outer or facts.path
    if not outer:
        facts.edges.append((facts.path.rsplit("/", 1)[-1], name))
        _atif_tokens(value, facts)
    if further := word(value.get("continued_trajectory_ref")):
        facts.edges.append((name, further.rsplit("/", 1)[-1]))
    for step in map(table, rows(value.get("steps"))):
        for result in map(table, rows(table(step.get("observation")).get("results"))):
            for ref in map(table, rows(result.get("subagent_trajectory_ref"))):
                called = word(ref.get("trajectory_id")) or word(ref.get("trajectory_path")).rsplit("/", 1)[-1]
                if called:
                    facts.edges.append((name, called))
    for inner in map(table, rows(value.get("subagent_trajectories"))):
        atif_read_into(inner, facts, name + "/")


def _atif_tokens(value: dict[str, Any], facts: Traced) -> None:
    totals = table(value.get("final_metrics"))
    told = [whole(totals.get(f"total_{kind}_tokens")) for kind in ("prompt", "completion")]
    if None not in told:
        facts.tokens = sum(count for count in told if count is not None)
    steps = [table(table(step).get("metrics")) for step in rows(value.get("steps"))]
    counts = [(whole(each.get("prompt_tokens")), whole(each.get("completion_tokens"))) for each in steps if each]
    if counts and all(None not in pair for pair in counts):
        facts.tokens_summed = sum((first or 0) + (second or 0) for first, second in counts)
