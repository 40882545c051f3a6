"""Creating, cancelling and ending runs."""

import os
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from benchmark.catalogue import CatalogueError, agent_get, task_get
from benchmark.models import TERMINAL, EventKind, Mode, Run, RunState
from benchmark.ports import grading_room
from benchmark.services.base_models import base_model_problem
from benchmark.services.events import event_record
from benchmark.services.needs import needs_missing
from benchmark.services.protocols import protocol_in_force
from benchmark.services.queueing import job_send_on_commit

BUDGET_MIN_S, BUDGET_MAX_S = 5, 14 * 24 * 3600


def run_create(
    *,
    agent: str,
    task: str,
    base_model: str,
    driver: str = "",
    mode: str = Mode.FREE,
    budget_s: int,
    created_by: User | None = None,
) -> Run:
    """Store a run as queued and ring for a worker.

    Raises: ValidationError: by field, what is wrong and what would be right.
    """
    problems: dict[str, str] = {}
    try:
        the_agent = agent_get(agent)
        driver = driver or the_agent.drivers[0]
    except CatalogueError as error:
        problems["agent"] = str(error)
    try:
        the_task = task_get(task)
        if missing := needs_missing(the_task):
            problems["task"] = missing
    except CatalogueError as error:
        problems["task"] = str(error)
    if mode not in (Mode.FREE, Mode.SFT_ONLY, Mode.RL_ORIENTED):
        problems["mode"] = "The mode must be free, sft-only or rl-oriented; a multi run needs several tasks."
    if not BUDGET_MIN_S <= budget_s <= BUDGET_MAX_S:
        problems["budget"] = f"The budget must lie between {BUDGET_MIN_S} s and 14 days."
    if len(driver) > 128 or not driver.isprintable():
        problems["driver"] = "The driver's name may have at most 128 printable characters."
    if problem := base_model_problem(base_model):
        problems["base_model"] = problem
    if problems:
        raise ValidationError(problems)
    with transaction.atomic():
        run = Run.objects.create(
            agent=the_agent.id,
            agent_version=the_agent.version,
            driver=driver,
            task=the_task.id,
            protocol=protocol_in_force(the_task),
            base_model=base_model,
            mode=mode,
            budget_s=budget_s,
            created_by=created_by,
        )
        grading_room().opened(run)
        event_record(run.pk, EventKind.RUN_STATE, state=RunState.QUEUED)
        run_enqueue(run)
    return run


def run_enqueue(run: Run) -> None:
    """Ring for an agents worker."""
    job_send_on_commit("benchmark.jobs.run_execute", run.pk)


def run_move(run_id: int, *, before: RunState, after: RunState, held_under: str = "", **values: Any) -> bool:
    """Move a run and record it, in one transaction; False when it was not in `before`, or under another lease."""
    with transaction.atomic():
        if after in TERMINAL:
            values.setdefault("ended_at", timezone.now())
        moved = Run.objects.move(run_id, before=before, after=after, held_under=held_under, **values)
        if moved:
            run = Run.objects.get(pk=run_id)
            event_record(
                run_id,
                EventKind.RUN_STATE,
                state=after,
                outcome=run.outcome,
                fault_code=run.fault_code,
                fault_detail=run.fault_detail,
                exit_code=run.exit_code,
                started_at=run.started_at and run.started_at.isoformat(),
                deadline_at=run.deadline_at and run.deadline_at.isoformat(),
                ended_at=run.ended_at and run.ended_at.isoformat(),
            )
    return moved


def run_cancel(run: Run) -> bool:
    """Ask for the end of a run; False when it has ended already. A queued run ends at once."""
    if run_move(run.pk, before=RunState.QUEUED, after=RunState.CANCELLED):
        return True
    asked = Run.objects.active().filter(pk=run.pk, cancel_requested_at=None).update(cancel_requested_at=timezone.now())
    if asked and run_move_finishing_cancelled(run.pk):
        grading_room().withdraw(run.pk)
        run_settle(run.pk)
    return bool(asked)


def run_move_finishing_cancelled(run_id: int) -> bool:
    """A cancelled run whose agent has already ended waits for no more grading."""
    return bool(Run.objects.filter(pk=run_id, state=RunState.FINISHING).update(outcome=RunState.CANCELLED))


def run_settle(run_id: int) -> bool:
    """End a finishing run once nothing of it is left to grade."""
    finishing = Run.objects.filter(pk=run_id, state=RunState.FINISHING)
    run = finishing.first() if finishing.exists() else None
    if run is None:
        return False
    if run.cancel_requested_at and run.outcome != RunState.CANCELLED:
        run.outcome = RunState.CANCELLED
        run_move_finishing_cancelled(run_id)
        grading_room().withdraw(run_id)
    if grading_room().pending(run_id):
        return False
    return run_move(
        run_id, before=RunState.FINISHING, after=RunState(run.outcome), ended_at=run.ended_at or timezone.now()
    )


def worker_name() -> str:
    """This process, for people: host and process id."""
    return f"{os.uname().nodename}/{os.getpid()}"
