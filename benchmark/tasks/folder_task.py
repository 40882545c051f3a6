"""Tasks that are described rather than programmed: a folder without `evaluator.py`.

Two kinds are known: a per-sample folder (`config.yaml`, `eval.py`, `data/`) and a reasoning-gym data set (a `task.yaml`
that names it, or the bare id `reasoning-gym:<data set>`). For each, a recipe says what the catalogue shows, prepares
the data and makes the evaluator. It is made anew in the web server, on the worker and inside the grading sandbox.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from benchmark.tasks.contract import Evaluator
from benchmark.tasks.data_contract import DataTarget
from benchmark.tasks.folder_task_yaml import read_yaml

REASONING_GYM = "reasoning-gym:"
SAMPLES_MODE = "per_sample"


class Recipe(Protocol):
    """What one described task is made of."""

    @property
    def about(self) -> Mapping[str, Any]:
        """The keys of a `task.yaml`, and `description`."""
        ...

    def prepare(self, target: DataTarget) -> None:
        """Write both parts of the data. Raises: DataUnavailable."""
        ...

    def evaluator(self) -> Evaluator: ...


def is_described(folder: Path) -> bool:
    """Whether a task folder brings no evaluator of its own."""
    return not (folder / "evaluator.py").is_file()


def recipe_of(folder: Path, task_id: str = "") -> Recipe:
    """The recipe of a described task; `task_id` matters only where the folder does not say.

    Raises: BadFolder.
    """
    if (folder / "task.yaml").is_file():
        from benchmark.tasks.reasoning_gym.recipe import GymRecipe

        return GymRecipe.of_folder(read_yaml(folder / "task.yaml"), folder / "task.yaml")
    if task_id.startswith(REASONING_GYM):
        from benchmark.tasks.reasoning_gym.recipe import GymRecipe

        return GymRecipe(task_id, task_id.removeprefix(REASONING_GYM))
    from benchmark.tasks.folder_task_samples import SamplesRecipe

    return SamplesRecipe.of_folder(folder, read_yaml(folder / "config.yaml"))


def is_samples_folder(folder: Path) -> bool:
    """Whether this is a per-sample folder: not a template (`_…`), and no other way of evaluation is asked for."""
    if folder.name.startswith("_") or not all((folder / name).is_file() for name in ("config.yaml", "eval.py")):
        return False
    return bool(read_yaml(folder / "config.yaml").get("eval_mode", SAMPLES_MODE) == SAMPLES_MODE)
