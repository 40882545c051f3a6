"""Driving one run from queued to its end: prepare, start the agent, watch it, finish."""

import logging
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from benchmark.catalogue import Agent, Task, agent_get, task_get
from benchmark.gateway.process import Gateway
from benchmark.models import EventKind, Run, RunState, secret_hash, secret_new
from benchmark.ports import grading_room, run_recorder
from benchmark.sandbox.contract import Exit, Limits, Running, Sandbox, SandboxFault, Spec
from benchmark.services.agent_log import LogFollower
from benchmark.services.base_models import BaseModelUnavailable, base_model_folder
from benchmark.services.events import event_record
from benchmark.services.holding import STOPPING, Hold, heartbeat
from benchmark.services.runs import run_move, run_settle
from benchmark.services.sandboxes import sandbox_for_agent, sandbox_name
from benchmark.services.task_data import task_data
from benchmark.services.tools import agent_routes, services_offered, tools_folder
from benchmark.services.workspace import Workspace, run_meta_write, workspace_make, workspace_of
from benchmark.tasks.data_contract import DataUnavailable

log = logging.getLogger(__name__)
LOOK_S = 0.5


class RunEnded(Exception):
    """The run cannot go on: cancelled, lost, or a fault of ours. `code` is empty when it is not a fault."""

    def __init__(self, outcome: RunState, code: str = "", detail: str = "") -> None:
        super().__init__(detail or code or outcome)
        self.outcome, self.code, self.detail = outcome, code, detail


@dataclass(frozen=True)
class Prepared:
    """All that the agent needs, on this worker."""

    run: Run
    agent: Agent
    task: Task
    sandbox: Sandbox
    workspace: Workspace


def run_drive(hold: Hold) -> None:
    """Drive a claimed run until its agent has ended; grading that is still waiting goes on without this worker."""
    with heartbeat(hold):
        try:
            prepared = _prepare(hold)
            outcome, exit_code = _run_agent(hold, prepared)
            ended = RunEnded(outcome) if exit_code is None else _outcome_of_exit(hold.run_id, outcome, exit_code)
        except RunEnded as end:
            ended, exit_code = end, None
        except Exception as error:
            log.exception("run %s failed", hold.run_id)
            ended, exit_code = RunEnded(RunState.FAILED, "internal_fault", f"{type(error).__name__}: {error}"), None
    if not hold.lost.is_set():
        _finish(hold, ended, exit_code)


def _step(hold: Hold, text: str) -> None:
    Run.objects.filter(pk=hold.run_id).update(step=text[:120])
    event_record(hold.run_id, EventKind.RUN_STEP, text=text)


def _stop_if_asked(hold: Hold) -> None:
    if hold.cancelled.is_set():
        raise RunEnded(RunState.CANCELLED)
    if hold.lost.is_set():
        raise RunEnded(RunState.FAILED)
    if STOPPING.is_set():
        raise RunEnded(RunState.FAILED, "worker_stopped", "The worker was stopped. Start the run again.")


def _prepare(hold: Hold) -> Prepared:
    run = Run.objects.get(pk=hold.run_id)
    agent, task = agent_get(run.agent), task_get(run.task)
    try:
        sandbox = sandbox_for_agent(agent)
        base = base_model_folder(run.base_model, progress=lambda text: _step(hold, text))
        _stop_if_asked(hold)
        data = task_data(task)
    except (SandboxFault, BaseModelUnavailable, DataUnavailable) as error:
        raise RunEnded(RunState.FAILED, _fault_code(error), str(error)) from error
    workspace = workspace_of(
        run,
        isolated=sandbox.isolates,
        base_folder=base,
        data_folder=data.visible,
        agent=agent,
        tools_folder=tools_folder(task),
    )
    workspace_make(run, workspace, task)
    note = "" if sandbox.isolates else "not isolated: a plain process, allowed for the shipped example agent only"
    Run.objects.filter(pk=run.pk).update(sandbox=sandbox.kind, sandbox_note=note)
    room = grading_room()
    room.baseline_request(run.pk, base)
    _step(hold, "Grading the base model.")
    while not room.baseline_ready(run.pk):
        _stop_if_asked(hold)
        time.sleep(LOOK_S / 2)
    return Prepared(run, agent, task, sandbox, workspace)


def _fault_code(error: Exception) -> str:
    if isinstance(error, SandboxFault):
        return "sandbox_fault"
    return "base_model_unavailable" if isinstance(error, BaseModelUnavailable) else "task_data_unavailable"


def _run_agent(hold: Hold, prepared: Prepared) -> tuple[RunState, int | None]:
    """Start the agent and watch it to its end. Returns the outcome and the exit code, if it ended by itself."""
    token = secret_new()
    run = _begin(hold, prepared, token)
    follower = LogFollower(run.pk, prepared.workspace.log_path, secrets=(token,))
    with ExitStack() as stack:
        stack.enter_context(
            Gateway(
                socket=prepared.workspace.socket_path,
                upstream=settings.WORKER_URL,
                prefixes=(f"/grading/{token}/",),
                routes=agent_routes(prepared.task),
            )
        )
        workspace = prepared.workspace
        recording = stack.enter_context(
            run_recorder().recording(run.pk, log_path=workspace.log_path, workspace=workspace.host, secrets=(token,))
        )
        try:
            running = prepared.sandbox.start(_spec(run, prepared, token))
        except SandboxFault as error:
            raise RunEnded(RunState.FAILED, "sandbox_fault", str(error)) from error
        stack.callback(follower.look_if_possible, final=True)
        stack.callback(running.stop)
        recording.follow(running.root_pid)
        return _watch(hold, run, running, follower)


def _begin(hold: Hold, prepared: Prepared, token: str) -> Run:
    """The budget starts here."""
    now = timezone.now()
    moved = run_move(
        hold.run_id,
        before=RunState.PREPARING,
        after=RunState.RUNNING,
        held_under=hold.lease,
        token_hash=secret_hash(token),
        started_at=now,
        deadline_at=now + timedelta(seconds=prepared.run.budget_s),
        step="",
    )
    if not moved:
        hold.lost.set()
        raise RunEnded(RunState.FAILED)
    run = Run.objects.get(pk=hold.run_id)
    run_meta_write(run)
    return run


def _spec(run: Run, prepared: Prepared, token: str) -> Spec:
    workspace, sandbox = prepared.workspace, prepared.sandbox
    environment = run_environment(run, prepared.task, workspace, token, sandbox.python)
    return Spec(
        name=sandbox_name("run", run.pk),
        command=["bash", str(workspace.agent_inside / "start.sh")],
        mounts=workspace.mounts(),
        env={**prepared.agent.env, **environment},
        workdir=workspace.inside,
        limits=run_limits(),
        socket=workspace.socket_path,
        log_path=workspace.log_path,
    )


def run_environment(run: Run, task: Task, workspace: Workspace, token: str, python: str) -> dict[str, str]:
    """What the agent's environment says about its run."""
    return {
        **workspace.environment(run, token, python),
        "ROLLOUT_SERVICES": ",".join(services_offered(task)),
    }


def run_limits() -> Limits:
    """The operator's limits for agents; 0 means none."""
    gb = 1024**3
    return Limits(
        cpus=settings.RUN_CPUS or None,
        memory_bytes=int(settings.RUN_MEMORY_GB * gb) or None,
        processes=settings.RUN_PROCESSES,
        disk_bytes=int(settings.RUN_DISK_GB * gb),
    )


def _watch(hold: Hold, run: Run, running: Running, follower: LogFollower) -> tuple[RunState, int | None]:
    """Until the agent ends, its budget does, or somebody stops it. Wall clock: `deadline_at` is what the page shows."""
    assert run.deadline_at is not None
    while True:
        left = (run.deadline_at - timezone.now()).total_seconds()
        if left <= 0:
            return RunState.TIMED_OUT, None
        ended = running.wait(min(LOOK_S, left))
        follower.look_if_possible()
        if ended is not None:
            return _after_exit(ended)
        _stop_if_asked(hold)


def _after_exit(ended: Exit) -> tuple[RunState, int]:
    if ended.exceeded:
        raise RunEnded(
            RunState.FAILED, f"limit_{ended.exceeded}", f"The agent was ended: it went over its {ended.exceeded} limit."
        )
    return RunState.FINISHED, ended.code


def _outcome_of_exit(run_id: int, outcome: RunState, exit_code: int) -> RunEnded:
    """An agent that fails without one submission has failed; with submissions its exit code is only a fact."""
    submitted = Run.objects.values_list("submission_count", flat=True).get(pk=run_id)
    if exit_code and not submitted:
        return RunEnded(
            RunState.FAILED, "agent_failed", f"The agent ended with code {exit_code} and submitted nothing."
        )
    return RunEnded(outcome)


def _finish(hold: Hold, ended: RunEnded, exit_code: int | None) -> None:
    """Leave the held states; the run's token is dead from here on."""
    values: dict[str, Any] = {
        "outcome": ended.outcome,
        "fault_code": ended.code,
        "fault_detail": ended.detail[:4000],
        "exit_code": exit_code,
        "ended_at": timezone.now(),
        "step": "",
    }
    run = Run.objects.get(pk=hold.run_id)
    before = RunState(run.state)
    if before == RunState.PREPARING and ended.code == "worker_stopped":
        run_move(run.pk, before=before, after=RunState.QUEUED, held_under=hold.lease, lease="", step="")
        return
    if not run_move(hold.run_id, before=before, after=RunState.FINISHING, held_under=hold.lease, **values):
        return
    if run.started_at:
        run_meta_write(Run.objects.get(pk=run.pk))
    if ended.outcome == RunState.CANCELLED:
        grading_room().withdraw(hold.run_id)
    run_settle(hold.run_id)


def run_abandon(run: Run) -> None:
    """End a run whose worker was lost: nothing can be resumed inside a dead sandbox, what it submitted is graded."""
    run_move(
        run.pk,
        before=RunState(run.state),
        after=RunState.FINISHING,
        held_under=run.lease,
        lease="",
        outcome=RunState.FAILED,
        fault_code="worker_lost",
        fault_detail=f"The worker {run.worker} was not heard of for {2 * settings.HEARTBEAT_S:g} s.",
        ended_at=timezone.now(),
    )
    run_settle(run.pk)
