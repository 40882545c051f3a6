"""Make the task's data: sums of two two-digit numbers, split so that no held-out sum is ever visible.

A sum and its mirror image (`23+58=` and `58+23=`) count as one problem. One seed divides all problems into a reserved
part, from which the held-out items come, and an open part, from which everything an agent or a base model may see
comes; two more seeds draw the items. Nothing is downloaded.
"""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmark.tasks.data_contract import DataSource, DataTarget

OPERANDS = range(10, 100)
"""Two digits each: answers are 20 … 198, and every question has the same length."""
HELD_OUT_ITEMS = 500
VISIBLE_ITEMS = 1500
PARTITION_SEED = 20_260_301
HELD_OUT_SEED = 71
VISIBLE_SEED = 13

Sum = tuple[int, int]


def problem(terms: Sum) -> Sum:
    """The sum regardless of the order of its terms."""
    return min(terms), max(terms)


def partition() -> tuple[list[Sum], list[Sum]]:
    """All problems, divided into (reserved, open); the same on every machine."""
    problems = [(a, b) for a in OPERANDS for b in range(a, OPERANDS.stop)]
    random.Random(PARTITION_SEED).shuffle(problems)  # noqa: S311 — reproducible, not secret
    return problems[:HELD_OUT_ITEMS], problems[HELD_OUT_ITEMS:]


def open_sums() -> list[Sum]:
    """Every sum, in both orders, that may be seen in training: none of them is held out."""
    return sorted({sum_ for a, b in partition()[1] for sum_ in ((a, b), (b, a))})


def held_out_sums() -> list[Sum]:
    """The held-out sums: each reserved problem once, in a random order of terms."""
    rng = random.Random(HELD_OUT_SEED)  # noqa: S311
    return [(a, b) if rng.random() < 0.5 else (b, a) for a, b in partition()[0]]


def visible_sums() -> list[Sum]:
    """The train-visible sums, without repetition."""
    return random.Random(VISIBLE_SEED).sample(open_sums(), VISIBLE_ITEMS)  # noqa: S311


def question(terms: Sum) -> str:
    return f"{terms[0]}+{terms[1]}="


def overlap(visible: Iterable[Sum], held_out: Iterable[Sum]) -> set[Sum]:
    """The problems that occur on both sides."""
    return {problem(terms) for terms in visible} & {problem(terms) for terms in held_out}


def prepare(target: DataTarget, source: DataSource | None = None) -> None:
    """Write `visible/train.jsonl` and `held_out/items.jsonl`. The source is not used.

    Raises: ValueError: a held-out problem would be visible.
    """
    visible, held_out = visible_sums(), held_out_sums()
    if shared := overlap(visible, held_out):
        raise ValueError(f"{len(shared)} held-out problems are visible, such as {min(shared)}")
    _write(target.visible / "train.jsonl", [_pair(terms) for terms in visible])
    items = [{"id": f"sum-{number:03d}", **_pair(terms)} for number, terms in enumerate(held_out)]
    _write(target.held_out / "items.jsonl", items)


def _pair(terms: Sum) -> dict[str, str]:
    return {"question": question(terms), "answer": str(sum(terms))}


def _write(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
