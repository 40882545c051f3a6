"""Creating, cancelling and ending runs."""

import os
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from benchmark.catalogue import Agent, CatalogueError, Task, agent_get, task_get
from benchmark.models import TERMINAL, EventKind, Mode, Run, RunState
from benchmark.ports import grading_room
from benchmark.services.base_models import base_model_problem
from benchmark.services.events import event_record
from benchmark.services.needs import needs_missing
from benchmark.services.protocols import protocol_in_force
from benchmark.services.queueing import job_send_on_commit

BUDGET_MIN_S, BUDGET_MAX_S = 5, 14 * 24 * 3600
TOKENS_MAX, USD_MAX, RESUMES_MAX = 10**12, 1_000_000, 20


TASKS_MOST = 16


def run_create(
    *,
    agent: str,
    task: str = "",
    tasks: Sequence[str] = (),
    base_model: str,
    driver: str = "",
    mode: str = Mode.FREE,
    budget_s: int,
    token_budget: int | None = None,
    cost_budget_usd: float | None = None,
    resumes: int = 0,
    created_by: User | None = None,
) -> Run:
    """Store a run as queued and ring for a worker.

    `tasks` are those of a multi run; budgets of tokens and dollars None: the deployment's. `resumes`: how often an
    agent that ends with budget left is started again.

    Raises: ValidationError: by field, what is wrong and what would be right.
    """
    problems: dict[str, str] = {}
    try:
        the_agent = agent_get(agent)
        driver = driver or the_agent.drivers[0]
        if problem := driver_problem(the_agent, driver):
            problems["driver"] = problem
    except CatalogueError as error:
        problems["agent"] = str(error)
    named = list(tasks) or [task]
    found, told = _tasks(named, mode)
    problems |= told
    problems |= _numbers(budget_s, token_budget, cost_budget_usd, resumes)
    if problem := base_model_problem(base_model):
        problems["base_model"] = problem
    if problems:
        raise ValidationError(problems)
    with transaction.atomic():
        run = Run.objects.create(
            agent=the_agent.id,
            agent_version=the_agent.version,
            driver=driver,
            task=found[0].id,
            task_list=[each.id for each in found] if mode == Mode.MULTI else [],
            protocol=protocol_in_force(found[0]),
            base_model=base_model,
            mode=mode,
            budget_s=budget_s,
            token_budget=token_budget,
            cost_budget_usd=cost_budget_usd,
            resumes=resumes,
            created_by=created_by,
        )
        grading_room().opened(run)
        event_record(run.pk, EventKind.RUN_STATE, state=RunState.QUEUED)
        run_enqueue(run)
    return run


def _tasks(named: Sequence[str], mode: str) -> tuple[list[Task], dict[str, str]]:
    """The tasks, and what is wrong with them or with the mode."""
    problems: dict[str, str] = {}
    if mode not in Mode.values:
        problems["mode"] = f"The mode must be one of {', '.join(Mode.values)}."
    elif mode == Mode.MULTI and not 2 <= len(named) <= TASKS_MOST:
        problems["mode"] = f"A multi run needs 2 to {TASKS_MOST} tasks."
    elif mode != Mode.MULTI and len(named) != 1:
        problems["mode"] = "Several tasks in one run need the mode multi."
    found = []
    try:
        found = [task_get(each) for each in named]
    except CatalogueError as error:
        problems["task"] = str(error)
    if len({each.slug for each in found}) < len(found):
        problems["task"] = "Name each task once."
    if missing := " ".join(filter(None, map(needs_missing, found))):
        problems["task"] = missing
    return found, problems


def _numbers(budget_s: int, tokens: int | None, usd: float | None, resumes: int) -> dict[str, str]:
    problems = {}
    if not BUDGET_MIN_S <= budget_s <= BUDGET_MAX_S:
        problems["budget"] = f"The budget must lie between {BUDGET_MIN_S} s and 14 days."
    if tokens is not None and not 1 <= tokens <= TOKENS_MAX:
        problems["token_budget"] = f"The budget of tokens must lie between 1 and {TOKENS_MAX}."
    if usd is not None and not 0 < usd <= USD_MAX:
        problems["cost_budget_usd"] = f"The budget of dollars must lie above 0 and at most at {USD_MAX:,}."
    if not 0 <= resumes <= RESUMES_MAX:
        problems["resumes"] = f"An agent can be resumed 0 to {RESUMES_MAX} times."
    return problems


def driver_problem(agent: Agent, driver: str) -> str:
    """What is wrong with a driver's name; empty when nothing is. Whether its key is there only a worker knows."""
    if len(driver) > 128 or not driver.isprintable():
        return "The driver's name may have at most 128 printable characters."
    known = ", ".join(agent.drivers)
    if agent.provider and not agent.driver_parts(driver)[0]:
        return f"{agent.title} needs a driver, such as {known}."
    return ""


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
