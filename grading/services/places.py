"""Where checkpoints, evaluations and base-model facts lie on workers."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from django.conf import settings

from benchmark.catalogue import agent_get, task_get
from benchmark.models import Run
from benchmark.services.base_models import base_model_folder
from benchmark.services.locking import held_alone
from benchmark.services.task_data import task_data
from benchmark.services.workspace import folders_shown, workspace_of
from grading.intake import BaseFacts, View, base_facts
from grading.models import Evaluation


def checkpoint_store() -> Path:
    """Private snapshots, one folder a digest."""
    return Path(settings.DATA_DIR / "checkpoints")


def evaluation_folder(evaluation: Evaluation) -> Path:
    """Kept over attempts, so that a killed one is resumed."""
    return Path(settings.DATA_DIR / "evaluations" / str(evaluation.pk))


def _quiet(_: str) -> None:
    """Nobody waits for progress here: the run's own preparation has built the model before."""


def base_folder_of(base_model: str) -> Path:
    """Raises: BaseModelUnavailable."""
    return base_model_folder(base_model, progress=_quiet)


def facts_of_base(folder: Path) -> BaseFacts:
    """The base model's fingerprint, read once for its present files.

    Raises: BaseModelFault: the folder is no whole checkpoint.
    """
    known = _facts.get(folder)
    if known is not None and known.is_current():
        return known
    _facts[folder] = _facts_kept(folder)
    return _facts[folder]


_facts: dict[Path, BaseFacts] = {}


def _facts_kept(folder: Path) -> BaseFacts:
    """From the data folder, else read anew and kept there."""
    name = hashlib.sha256(str(folder).encode()).hexdigest()[:24]
    path = settings.DATA_DIR / "base_facts" / f"{name}.json"
    with held_alone(path.with_suffix(".lock")):
        facts = _facts_read(path)
        if facts is not None and facts.is_current():
            return facts
        facts = base_facts(folder)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(facts.as_dict()))
        part.replace(path)
    return facts


def _facts_read(path: Path) -> BaseFacts | None:
    """None where the file is not there, or not whole."""
    try:
        return BaseFacts.from_dict(json.loads(path.read_text()))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def digest_of_base(facts: BaseFacts) -> str:
    """SHA-256 over what decides a base model's score: configuration, weights, tokenizer. Not where the folder lies."""
    told = {key: value for key, value in facts.as_dict().items() if key not in ("folder", "stamps")}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class SubmittedFrom:
    """How to find on this worker what an agent submitted."""

    view: View
    workspace: PurePosixPath
    base: BaseFacts


def submitted_from(run: Run) -> SubmittedFrom:
    """Raises: BaseModelUnavailable, DataUnavailable."""
    base = base_folder_of(run.base_model)
    tasks = [task_get(task) for task in run.tasks]
    data = {task.id: task_data(task).visible for task in tasks}
    workspace = workspace_of(
        run,
        isolated=run.sandbox != "process",
        base_folder=base,
        shown=folders_shown(tasks, data, "data"),
        agent=agent_get(run.agent),
    )
    return SubmittedFrom(View(workspace.view()), workspace.inside, facts_of_base(base))
