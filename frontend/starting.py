"""Starting and cancelling runs for a person, each written to the audit log."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from benchmark.models import Run
from benchmark.services.audit import audit_record
from benchmark.services.runs import run_cancel, run_create


def runs_start(*, values: Mapping[str, Any], actor: User, count: int = 1, like: str = "") -> list[Run]:
    """`count` equal runs, all or none; `like` is the run that they repeat. Raises: ValidationError."""
    told = {"like": like} if like else {}
    with transaction.atomic():
        runs = [run_create(**values, created_by=actor) for _ in range(count)]
        for run in runs:
            audit_record(actor=actor, action="run.start", subject=run, budget_s=run.budget_s, **told)
    return runs


def run_stop(*, run: Run, actor: User) -> bool:
    """Ask for the end of a run; False when it has ended or was asked before."""
    with transaction.atomic():
        asked = run_cancel(run)
        if asked:
            audit_record(actor=actor, action="run.cancel", subject=run)
    return asked


def values_of(run: Run) -> dict[str, Any]:
    """The arguments of `run_create` for a run like this one."""
    names = ("agent", "tasks", "base_model", "driver", "mode", "budget_s", "token_budget", "cost_budget_usd", "resumes")
    return {name: getattr(run, name) for name in names}
