"""Driving one run from queued to its end: prepare, start the agent, watch it, finish."""

import logging
import math
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from benchmark.catalogue import Task
from benchmark.gateway.process import Gateway
from benchmark.models import EventKind, Run, RunState, secret_hash, secret_new
from benchmark.ports import LiveRecording, grading_room, run_recorder
from benchmark.sandbox.contract import Limits, SandboxFault, Spec
from benchmark.services.adoption import GPUS, Adopted, RunLeft, gpus_of_agent, run_leave, run_taken_over
from benchmark.services.agent_log import LogFollower
from benchmark.services.driving import RunEnded
from benchmark.services.gpu_pool import gpu_pool
from benchmark.services.holding import Hold, heartbeat
from benchmark.services.instructions import prompt_for
from benchmark.services.integrity import Watched, integrity_watched
from benchmark.services.out_hosts import out_environment, out_routes
from benchmark.services.preparing import Prepared, run_prepare
from benchmark.services.pulse import database_patiently
from benchmark.services.runs import run_move, run_settle
from benchmark.services.sandboxes import sandbox_name
from benchmark.services.tools import agent_routes, services_offered
from benchmark.services.watching import SessionEnd, Watch, resume_wanted, run_resume
from benchmark.services.workspace import Workspace, run_meta_write

log = logging.getLogger(__name__)
PREPARED_MOST = 3
"""Preparations that lost their worker, before the run is taken for the reason."""


def run_drive(hold: Hold, token: str = "") -> None:
    """Drive a claimed run until its agent has ended; grading that is still waiting goes on without this worker.

    `token` is that of an adopted run, whose agent runs already.
    """
    with heartbeat(hold):
        try:
            prepared = database_patiently(lambda: run_prepare(hold)) if token else run_prepare(hold)
            ended, exit_code = _run_agent(hold, prepared, token)
        except RunLeft:
            log.info("left the agent running for the next worker on this host")
            return
        except RunEnded as end:
            ended, exit_code = end, None
        except DatabaseError as error:
            connection.close()
            ended, exit_code = RunEnded(RunState.FAILED, "database_lost", str(error)), None
        except SandboxFault as error:
            log.exception("the sandbox of run %s failed", hold.run_id)
            ended, exit_code = RunEnded(RunState.FAILED, "sandbox_fault", str(error)), None
        except Exception as error:
            log.exception("run %s failed", hold.run_id)
            ended, exit_code = RunEnded(RunState.FAILED, "internal_fault", f"{type(error).__name__}: {error}"), None
        if not hold.lost.is_set():
            database_patiently(lambda: _finish(hold, ended, exit_code))


def _run_agent(hold: Hold, prepared: Prepared, adopted: str) -> tuple[RunEnded, int | None]:
    """Start the agent and watch it to its end, again where the policy says so. How it ended, and its exit code."""
    token = adopted or secret_new()
    run = database_patiently(lambda: Adopted.run_again(hold)) if adopted else _begin(hold, prepared, token)
    workspace = prepared.workspace
    follower = LogFollower(run.pk, workspace.log_path, secrets=(token,))
    watch = Watch(hold, run, prepared.access.ledger, follower)
    with ExitStack() as stack:
        stack.callback(watch.account)
        gateway = stack.enter_context(
            Gateway(
                socket=workspace.socket_path,
                upstream=settings.WORKER_URL,
                prefixes=(f"/grading/{token}/",),
                routes=[*agent_routes(prepared.tasks), *prepared.access.routes(), *out_routes(prepared.access.ledger)],
            )
        )
        recording = stack.enter_context(
            run_recorder().recording(run.pk, log_path=workspace.log_path, workspace=workspace.host, secrets=(token,))
        )
        stack.callback(follower.look_if_possible, final=True)
        try:
            known = gpus_of_agent(run) if adopted else ()
            gpus = stack.enter_context(gpu_pool().lent(math.ceil(settings.RUN_GPUS), known=known))
        except SandboxFault as error:
            raise RunEnded(RunState.FAILED, "sandbox_fault", str(error)) from error
        watching = stack.enter_context(integrity_watched(run, gateway, workspace.log_path))
        while True:
            spec = _spec(run, prepared, token, gpus)
            ended = _session(prepared, spec, recording, watch, watching, adopt=bool(adopted))
            adopted = ""
            watching.limit = ended.end.code.removeprefix("limit_") if ended.end.code.startswith("limit_") else ""
            if ended.exit_code is None or not resume_wanted(run, watch, ended):
                return ended.end, ended.exit_code
            run_resume(run, watch, ended)


def _session(
    prepared: Prepared, spec: Spec, recording: LiveRecording, watch: Watch, watching: Watched, *, adopt: bool
) -> SessionEnd:
    """One start of the agent, or one that another worker started, to its end. Raises: RunLeft; RunEnded."""
    try:
        running = prepared.sandbox.adopt(spec) if adopt else prepared.sandbox.start(spec)
    except SandboxFault as error:
        raise RunEnded(RunState.FAILED, "sandbox_fault", str(error)) from error
    if running is None:
        raise RunEnded(RunState.FAILED, "worker_lost", "Its worker was lost, and then its container.")
    left = False
    try:
        recording.follow(running)
        return watch.until_end(running)
    except RunEnded as end:
        taken = run_taken_over(watch.hold)
        left = (taken or end.code == "worker_stopped") and running.leave() and (taken or run_leave(watch.hold))
        if not left:
            raise
        recording.leave()
        raise RunLeft from end
    finally:
        if not left:
            running.stop()
            watching.hits |= running.hits


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


def _spec(run: Run, prepared: Prepared, token: str, gpus: Sequence[str]) -> Spec:
    workspace, sandbox = prepared.workspace, prepared.sandbox
    environment = run_environment(run, prepared.tasks, workspace, token, sandbox.python)
    environment |= prepared.access.environment() | out_environment() | {"PROMPT": prompt_for(run)}
    return Spec(
        name=sandbox_name("run", run.pk),
        command=["bash", str(workspace.agent_inside / "start.sh")],
        mounts=workspace.mounts(),
        env={**prepared.agent.env, **environment, **({GPUS: ",".join(gpus)} if gpus else {})},
        workdir=workspace.inside,
        limits=run_limits(),
        gpus=gpus,
        socket=workspace.socket_path,
        log_path=workspace.log_path,
        log_bytes=settings.RUN_LOG_MB << 20,
    )


def run_environment(run: Run, tasks: Sequence[Task], workspace: Workspace, token: str, python: str) -> dict[str, str]:
    """What the agent's environment says about its run."""
    return {
        **workspace.environment(run, token, python),
        "ROLLOUT_SERVICES": ",".join(services_offered(tasks)),
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
    if before == RunState.PREPARING and ended.code in ("worker_stopped", "database_lost"):
        run_move(run.pk, before=before, after=RunState.QUEUED, held_under=hold.lease, lease="", step="")
        return
    if not run_move(hold.run_id, before=before, after=RunState.FINISHING, held_under=hold.lease, **values):
        return
    if run.started_at:
        run_meta_write(Run.objects.get(pk=run.pk))
    if ended.outcome == RunState.CANCELLED:
        grading_room().withdraw(hold.run_id)
    run_settle(hold.run_id)


def _times_prepared(run: Run) -> int:
    return run.events.filter(kind=EventKind.RUN_STATE, data__state=RunState.PREPARING).count()


def run_abandon(run: Run) -> None:
    """A run whose worker was lost: back to the queue while its agent had not begun, else ended.

    Nothing can be resumed inside a dead sandbox; what the agent submitted is graded.
    """
    if run.state == RunState.PREPARING and _times_prepared(run) < PREPARED_MOST:
        before, after = RunState.PREPARING, RunState.QUEUED
        run_move(run.pk, before=before, after=after, held_under=run.lease, lease="", step="")
        return
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
