"""Workspaces of real tasks, as an agent's sandbox gets them, without a run in the database."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from benchmark.catalogue import Task, agent_get, task_get
from benchmark.models import Run
from benchmark.services.task_data import task_data
from benchmark.services.tools import tools_folder
from benchmark.services.workspace import Workspace, workspace_make, workspace_of
from benchmark.tasks.data_contract import DataTarget, DataUnavailable


@contextmanager
def source_folder(task_id: str, folder: Path) -> Iterator[None]:
    """Source files come from `folder` and never from the network."""
    name = f"AGENT2_TASK_{task_id.upper().replace('-', '_')}_DIR"
    earlier = os.environ.get(name)
    os.environ[name] = str(folder)
    try:
        yield
    finally:
        os.environ.pop(name)
        if earlier is not None:
            os.environ[name] = earlier


def prepared(task_id: str, folder: Path) -> DataTarget:
    """The task's data from the sources in `folder`; the test is skipped where that lacks one."""
    with source_folder(task_id, folder):
        try:
            return task_data(task_get(task_id))
        except DataUnavailable as missing:
            pytest.skip(str(missing))


@dataclass(frozen=True)
class Made:
    """A workspace and what it was made for."""

    run: Run
    task: Task
    workspace: Workspace


def made_workspace(task: Task, visible: Path, base: Path) -> Made:
    """What an isolated run of the example agent would see."""
    run = Run(slug=f"w{uuid4().hex[:8]}", agent="example", task=task.id, base_model=str(base), budget_s=3600)
    tools = tools_folder(task)
    workspace = workspace_of(
        run,
        isolated=True,
        base_folder=base,
        shown={"data": visible, **({"tools": tools} if tools else {})},
        agent=agent_get("example"),
    )
    workspace_make(run, workspace, [task])
    return Made(run, task, workspace)
