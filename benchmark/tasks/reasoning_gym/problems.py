"""Splitting problems: held-out and visible ones come from different seeds, and no question is in both parts."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from benchmark.tasks.data_contract import DataTarget, DataUnavailable
from benchmark.tasks.reasoning_gym.generator import Generator

if TYPE_CHECKING:
    from benchmark.tasks.reasoning_gym.recipe import GymRecipe

HELD_OUT_SEED, VISIBLE_SEED = 1_000_000_000, 2_000_000_000
"""Problem i of a data set comes from the seed plus i; the two ranges never meet."""
MOST_TRIES = 20
"""Times the number of problems wanted."""


def held_out_generator(recipe: "GymRecipe") -> Generator:
    """The same at preparing and at grading."""
    return Generator(recipe.dataset, dict(recipe.config), seed=HELD_OUT_SEED, size=MOST_TRIES * recipe.held_out)


def prepare(recipe: "GymRecipe", target: DataTarget) -> None:
    """Write `visible/train.jsonl` and, as indices and digests, `held_out/problems.jsonl`. Raises: DataUnavailable."""
    taken: set[str] = set()
    visible = Generator(recipe.dataset, dict(recipe.config), seed=VISIBLE_SEED, size=MOST_TRIES * recipe.visible)
    parts = (
        (target.held_out / "problems.jsonl", held_out_generator(recipe), recipe.held_out, ("index", "sha256")),
        (target.visible / "train.jsonl", visible, recipe.visible, ("question", "answer", "metadata")),
    )
    for path, generator, wanted, keys in parts:
        problems = list(_fresh(generator, wanted, taken))
        generator.close()
        lines = (json.dumps({key: problem[key] for key in keys}) + "\n" for problem in problems)
        path.write_text("".join(lines), encoding="utf-8")


def _fresh(generator: Generator, wanted: int, taken: set[str]) -> Iterator[dict[str, Any]]:
    """`wanted` problems whose questions are not in `taken`; adds them to it."""
    found = 0
    for index in range(MOST_TRIES * wanted):
        problem = generator.problem(index)
        if problem["sha256"] not in taken:
            taken.add(problem["sha256"])
            yield {"index": index, **problem}
            found += 1
            if found == wanted:
                return
    raise DataUnavailable(
        f"reasoning-gym's {generator.dataset} has too few different problems: {found} of {wanted} after "
        f"{MOST_TRIES * wanted} tries. Set smaller held_out and visible in a task.yaml."
    )
