"""What the grading runner is to do, whoever asks for it: a stored evaluation, or an operator at the command line."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from django.conf import settings

from benchmark.catalogue import Task, task_get
from benchmark.services.sandboxes import sandbox_name
from grading.contract import EngineName
from grading.models import Evaluation
from grading.services.desks import Desk, desks_of_task
from grading.services.places import base_folder_of, checkpoint_store, evaluation_folder


@dataclass(frozen=True)
class Work:
    """One evaluation as the sandbox runner executes it."""

    name: str
    """Of its socket; `sandbox` is that of its sandbox."""
    sandbox: str
    task: Task
    protocol: str
    """With the limit, if there is one."""
    folder: Path
    """Kept over attempts: what is finished is not done again."""
    engine: EngineName
    desks: Sequence[Desk] = ()
    checkpoint: Path | None = None
    reference: Path | None = None
    """Both None where the model is known by its endpoint alone."""
    endpoint: str | None = None


def work_of(evaluation: Evaluation) -> Work:
    """Raises: NotConfigured; SearchNotConfigured; BaseModelUnavailable."""
    task = task_get(evaluation.task)
    desks = desks_of_task(task, evaluation.protocol)
    base = base_folder_of(evaluation.base_model)
    return Work(
        name=f"evaluation-{evaluation.pk}",
        sandbox=sandbox_name("evaluation", evaluation.pk),
        task=task,
        protocol=evaluation.protocol,
        folder=evaluation_folder(evaluation),
        engine=cast(EngineName, settings.ENGINE),
        desks=desks,
        checkpoint=base if evaluation.is_baseline else checkpoint_store() / evaluation.digest,
        reference=base,
    )
