"""Evaluating a model without a run: a base model here, or one behind an endpoint. Nothing is ranked or stored."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from django.conf import settings
from django.utils import timezone

from benchmark.catalogue import task_get
from benchmark.services.base_models import base_model_folder, base_model_problem
from benchmark.services.protocols import protocol_limited
from benchmark.services.sandboxes import sandbox_name, sandbox_of_process
from grading.contract import EngineName, RunnerVerdict
from grading.services.desks import Desk, desks_of_task, endpoint_desk
from grading.services.sandbox_runner import work_execute
from grading.services.work import Work

NAME_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Asked:
    """What to evaluate: `base_model`, the `endpoint` of that name, or the endpoint that serves that base model."""

    task: str
    base_model: str = ""
    endpoint: str = ""
    limit: int | None = None
    folder: Path | None = None
    """An earlier evaluation's, to go on where it stopped; a new one where it is None."""


@dataclass(frozen=True)
class Evaluated:
    """The verdict, and where everything about it lies."""

    verdict: RunnerVerdict
    folder: Path

    @property
    def samples(self) -> Path:
        return self.folder / "out" / "samples.jsonl"


def model_evaluate(asked: Asked, *, tell: Callable[[str], None]) -> Evaluated:
    """Run the grading runner in its sandbox, and keep its verdict beside the samples.

    Raises: ValueError: what is asked makes no sense; CatalogueError; NotConfigured; SearchNotConfigured;
    DataUnavailable; BaseModelUnavailable; SandboxFault.
    """
    work = _work(asked, tell)
    work.folder.mkdir(parents=True, exist_ok=True)
    tell(f"{work.protocol} in {work.folder}")
    last = ""

    def pulse(phase: str = "", done: int = 0, of: int = 0) -> bool:
        nonlocal last
        line = f"{phase} {done} of {of}" if of else phase
        if line != last:
            last = line
            tell(line)
        return True

    with sandbox_of_process(work.sandbox):
        verdict = work_execute(work, pulse)
    (work.folder / "verdict.json").write_text(json.dumps(verdict.as_dict(), indent=2) + "\n", encoding="utf-8")
    return Evaluated(verdict, work.folder)


def _work(asked: Asked, tell: Callable[[str], None]) -> Work:
    if not asked.base_model and not asked.endpoint:
        raise ValueError("Name a base model, an endpoint's model, or both where the endpoint serves that base model.")
    if asked.base_model and (problem := base_model_problem(asked.base_model)):
        raise ValueError(problem)
    if asked.limit is not None and asked.limit < 1:
        raise ValueError("The limit is a number of items, at least 1.")
    task = task_get(asked.task)
    protocol = protocol_limited(task, asked.limit)
    desks: list[Desk] = list(desks_of_task(task, protocol))
    if asked.endpoint:
        desks.append(endpoint_desk(asked.endpoint, "completions" if asked.base_model else "chat/completions"))
    base = base_model_folder(asked.base_model, progress=tell) if asked.base_model else None
    folder = asked.folder or _new_folder(asked)
    number = int(hashlib.sha256(str(folder).encode()).hexdigest()[:12], 16)
    return Work(
        name=f"evaluate-{number}",
        sandbox=sandbox_name("evaluate", number),
        task=task,
        protocol=protocol,
        folder=folder,
        engine="openai" if asked.endpoint else cast(EngineName, settings.ENGINE),
        desks=desks,
        checkpoint=base,
        reference=base,
        endpoint=asked.endpoint or None,
    )


def _new_folder(asked: Asked) -> Path:
    parts = (f"{timezone.now():%Y%m%d-%H%M%S}", asked.task, asked.endpoint or asked.base_model.rstrip("/"))
    name = "--".join(NAME_CHARACTERS.sub("-", part)[-60:] for part in parts)
    return Path(settings.DATA_DIR) / "evaluated" / name
