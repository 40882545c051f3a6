"""Tasks and agent systems are folders, found at run time: adding one needs no edit here.

A task folder holds `task.yaml`, `description.md`, `data.py` and `evaluator.py` (benchmark/tasks/contract.py and
data_contract.py say what the last two define), or describes its task without code (benchmark/tasks/folder_task.py). An
agent folder holds `config.yaml` and `start.sh` (benchmark/agent_folder.py).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args

from django.conf import settings

from benchmark.agent_folder import Agent, agent_read
from benchmark.folders import CatalogueError, yaml_mapping
from benchmark.tasks.data_contract import DataUnavailable
from benchmark.tasks.folder_task import REASONING_GYM, is_described, is_samples_folder, recipe_of
from benchmark.tasks.folder_task_yaml import REASONING_GYM_FOLDER, BadFolder
from benchmark.tasks.services_contract import Need

__all__ = ["Agent", "CatalogueError", "Task", "agent_get", "agents", "task_get", "task_slug", "tasks"]


@dataclass(frozen=True)
class Task:
    """One benchmark task, as its `task.yaml` describes it."""

    id: str
    title: str
    level: str
    protocol: str
    summary: str
    metric: str
    eval_size: int
    folder: Path
    about: Mapping[str, Any]
    needs: tuple[Need, ...] = ()
    """What its evaluator asks for outside its sandbox."""

    @property
    def slug(self) -> str:
        """The id as it stands in paths and URLs."""
        return task_slug(self.id)

    @property
    def description(self) -> str:
        """What the agent is told about the task, Markdown."""
        written = self.about.get("description")
        return str(written) if written else (self.folder / "description.md").read_text(encoding="utf-8")


def _task(folder: Path, task_id: str = "") -> Task:
    about: Mapping[str, Any]
    if is_described(folder):
        try:
            about = recipe_of(folder, task_id).about
        except (BadFolder, DataUnavailable) as error:
            raise CatalogueError(str(error)) from error
    else:
        about = yaml_mapping(folder / "task.yaml")
    try:
        return Task(
            id=str(about["id"]),
            title=str(about["title"]),
            level=str(about["level"]),
            protocol=str(about["protocol"]),
            summary=str(about["summary"]).strip(),
            metric=str(about["metric"]),
            eval_size=int(about["eval_size"]),
            folder=folder,
            about=about,
            needs=_needs(about, folder),
        )
    except KeyError as missing:
        raise CatalogueError(f"{folder / 'task.yaml'} lacks the key {missing}.") from missing
    except (TypeError, ValueError) as error:
        told = about["eval_size"]
        raise CatalogueError(f"{folder / 'task.yaml'}: eval_size must be a whole number, not {told!r}.") from error


def _needs(about: Mapping[str, Any], folder: Path) -> tuple[Need, ...]:
    """Raises: CatalogueError: not a list of known needs."""
    told, known = about.get("needs") or [], get_args(Need)
    if not isinstance(told, list) or not all(need in known for need in told):
        raise CatalogueError(f"{folder / 'task.yaml'}: needs must be a list of {', '.join(known)}, not {told!r}.")
    return tuple(told)


def _folders(parents: Sequence[Path], marker: str) -> list[Path]:
    found = [path for parent in parents if parent.is_dir() for path in sorted(parent.iterdir())]
    return [path for path in found if (path / marker).is_file()]


@cache
def tasks() -> dict[str, Task]:
    """Every task by id; a later folder of the same id wins."""
    try:
        samples = [folder for folder in _folders(settings.TASK_DIRS, "eval.py") if is_samples_folder(folder)]
    except BadFolder as error:
        raise CatalogueError(str(error)) from error
    return {task.id: task for task in map(_task, [*_folders(settings.TASK_DIRS, "task.yaml"), *samples])}


@cache
def agents() -> dict[str, Agent]:
    """Every agent system by id."""
    return {agent.id: agent for agent in map(agent_read, _folders(settings.AGENT_DIRS, "config.yaml"))}


def task_slug(task_id: str) -> str:
    """A task's id in letters that need no quoting in paths and URLs."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", task_id)


def task_get(task_id: str) -> Task:
    """Also `reasoning-gym:<data set>`. Raises: CatalogueError: unknown; the message lists the known ids."""
    if task_id.startswith(REASONING_GYM):
        return _task(REASONING_GYM_FOLDER, task_id)
    if task_id not in tasks():
        raise CatalogueError(f"There is no task {task_id!r}; known are {', '.join(sorted(tasks()))}.")
    return tasks()[task_id]


def agent_get(agent_id: str) -> Agent:
    """Raises: CatalogueError: unknown; the message lists the known ids."""
    if agent_id not in agents():
        raise CatalogueError(f"There is no agent {agent_id!r}; known are {', '.join(sorted(agents()))}.")
    return agents()[agent_id]
