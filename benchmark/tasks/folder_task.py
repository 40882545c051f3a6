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

REASONING_GYM = "reasoning-gym:"
SAMPLES_MODE = "per_sample"
REASONING_GYM_FOLDER = Path(__file__).parent / "reasoning_gym"


class BadFolder(Exception):
    """The folder is no usable task; the message names the file and what is wrong with it."""


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


def read_yaml(path: Path) -> dict[str, Any]:
    """Raises: BadFolder."""
    import yaml  # not at the top: tasks with an evaluator of their own do without

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadFolder(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise BadFolder(f"{path} must be a mapping.")
    return content


def whole_number(about: Mapping[str, Any], key: str, default: int | None, path: Path) -> int | None:
    """A positive whole number of a YAML file. Raises: BadFolder."""
    value = about.get(key, default)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise BadFolder(f"{path}: {key} must be a positive whole number, not {value!r}.")
