"""A task's data on this worker: prepared once per version, visible and held-out parts in separate folders."""

import hashlib
import importlib.util
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import httpx
from django.conf import settings

from benchmark.catalogue import Task
from benchmark.services.locking import held_alone
from benchmark.tasks import folder_task
from benchmark.tasks.data_contract import DataSource, DataTarget, DataUnavailable
from benchmark.tasks.held_out import held_out_digest
from config import env

DOCUMENTS = (".md", ".yaml")
"""Not part of what makes a task's data."""
LAYOUT = "2"
"""Of a prepared folder; raised where older ones lack something."""


@dataclass(frozen=True)
class LocalOrPublic:
    """An operator's folder for one task (`AGENT2_TASK_<ID>_DIR`), else the public source, kept under `cache`."""

    task_id: str
    cache: Path

    @property
    def setting(self) -> str:
        return f"TASK_{self.task_id.upper().replace('-', '_')}_DIR"

    def file(self, name: str, *, sha256: str | None, url: str) -> Path:
        """See `DataSource.file`."""
        folder = env.text(self.setting, "")
        path = Path(folder) / name if folder else self.cache / name
        if not folder and not path.is_file():
            self._download(path, url)
        if not path.is_file():
            raise DataUnavailable(
                f"{path} is missing. It comes from {url}; {env.PREFIX}{self.setting} names its folder."
            )
        if sha256 is None:
            return path
        with path.open("rb") as handle:
            found = hashlib.file_digest(handle, "sha256").hexdigest()
        if found != sha256:
            if not folder:
                path.unlink()  # so that the next try fetches it anew
            raise DataUnavailable(f"{path} has SHA-256 {found}, expected {sha256}. Fetch it anew from {url}.")
        return path

    def _download(self, path: Path, url: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(path.suffix + ".part")
        try:
            with httpx.stream("GET", url, follow_redirects=True, timeout=60) as answer, part.open("wb") as out:
                answer.raise_for_status()
                for block in answer.iter_bytes():
                    out.write(block)
        except httpx.HTTPError as error:
            raise DataUnavailable(
                f"{path.name} could not be fetched from {url} ({error}). Put it into a folder and name that in "
                f"{env.PREFIX}{self.setting}."
            ) from error
        part.rename(path)


def task_data_here(task: Task) -> DataTarget | None:
    """The task's prepared folders where they are here already, else None: nothing is made."""
    target = _target(task_store(task))
    return target if target.held_out.is_dir() else None


def task_data(task: Task) -> DataTarget:
    """The task's prepared folders, made on first use.

    Raises: DataUnavailable: a source file is missing or wrong.
    """
    store = task_store(task)
    target = _target(store)
    with held_alone(store.with_name(store.name + ".lock")):
        if not store.is_dir():
            part = store.with_name(store.name + ".part")
            shutil.rmtree(part, ignore_errors=True)
            making = DataTarget(visible=part / "visible", held_out=part / "held_out")
            making.visible.mkdir(parents=True)
            making.held_out.mkdir()
            _prepare(task)(making, LocalOrPublic(task.id, settings.DATA_DIR / "sources" / task.id))
            _record(part).write_text(held_out_digest(making.held_out))
            part.rename(store)
    return target


def task_data_digest(task: Task) -> str:
    """Of the held-out folder as it was prepared (benchmark/tasks/held_out.py). Raises: DataUnavailable: it is gone."""
    record = _record(task_store(task))
    if not record.is_file():
        raise DataUnavailable(f"{record} is missing. Remove {record.parent}, and the task's data is prepared anew.")
    return record.read_text().strip()


def task_store(task: Task) -> Path:
    """Where the task's prepared folders are, or will be."""
    return Path(settings.DATA_DIR) / "tasks" / f"{task.id}-{_version(task)}"


def _record(store: Path) -> Path:
    return store / "held_out.sha256"


def _target(store: Path) -> DataTarget:
    return DataTarget(visible=store / "visible", held_out=store / "held_out")


def _version(task: Task) -> str:
    """Data made by other code is other data. A described task's protocol changes with its data."""
    told = hashlib.sha256(f"{LAYOUT} {task.protocol}".encode())
    files = [] if folder_task.is_described(task.folder) else sorted(task.folder.rglob("*"))
    for path in files:
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in DOCUMENTS:
            told.update(str(path.relative_to(task.folder)).encode() + path.read_bytes())
    return told.hexdigest()[:12]


def _prepare(task: Task) -> Callable[[DataTarget, DataSource], None]:
    if folder_task.is_described(task.folder):
        return lambda target, _: folder_task.recipe_of(task.folder, task.id).prepare(target)
    spec = importlib.util.spec_from_file_location(f"agent2_task_data_{task.id}", task.folder / "data.py")
    if spec is None or spec.loader is None:
        raise DataUnavailable(f"{task.folder / 'data.py'} cannot be loaded.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Callable[[DataTarget, DataSource], None], module.prepare)
