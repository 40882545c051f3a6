"""Celery jobs of the benchmark room: parse, call one service."""

from contextlib import suppress
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from django.conf import settings

from benchmark.log_context import log_about
from benchmark.models import Run, RunState
from benchmark.sandbox.contract import SandboxFault
from benchmark.services.adoption import run_adopt, runs_adoptable, runs_lost
from benchmark.services.artifacts_storing import artifacts_pass
from benchmark.services.execution import run_abandon, run_drive
from benchmark.services.fair_share import runs_by_turn
from benchmark.services.holding import STOPPING, run_claim
from benchmark.services.queueing import job_send
from benchmark.services.runs import run_settle
from benchmark.services.sandboxes import sandbox_name, sandbox_reap
from benchmark.services.slots import Slots
from benchmark.services.sweeping import sweep
from benchmark.services.worker_beat import takes_work, worker_leave, worker_report
from benchmark.services.worker_duties import duties_begin

_slots = Slots(settings.AGENT_SLOTS)
_storing = Slots(1)


@worker_ready.connect
def _begin(sender: Any, **_: Any) -> None:
    duties_begin(adopt=_adopt if settings.AGENT_SLOTS else None)
    worker_report(sorted(sender.app.amqp.queues.consume_from))


@worker_shutting_down.connect
def _stop(**_: Any) -> None:
    """End what this worker holds, so that its warm shutdown need not wait for a run's whole budget."""
    STOPPING.set()


@worker_shutdown.connect
def _leave(**_: Any) -> None:
    worker_leave()


def _adopt() -> None:
    """Before queued runs: what lives already needs its slot now."""
    if runs_adoptable():
        _slots.drain(_adopt_next)


def _adopt_next() -> bool:
    for left in runs_adoptable() if takes_work() else ():
        if adopted := run_adopt(left):
            with log_about(run=left.slug):
                run_drive(adopted.hold, adopted.token)
            return True
    return False


@shared_task
def run_execute(run_id: int | None = None) -> None:
    """Drive queued runs in the order of their turn, as long as this worker has a slot. `run_id` is only what rang."""
    _slots.drain(_drive_next)


def _drive_next() -> bool:
    if not takes_work():
        return False
    if _adopt_next():
        return True
    for run in runs_by_turn():
        hold = run_claim(run.pk)
        if hold is not None:
            with log_about(run=run.slug):
                run_drive(hold)
            return True
    return False


@shared_task
def runs_sweep() -> None:
    """End what lost its worker, settle what is done, and ring again for what still waits."""
    sweep(runs_lost(), _end_lost)
    sweep(Run.objects.filter(state=RunState.FINISHING).values_list("pk", flat=True), run_settle)
    if Run.objects.filter(state=RunState.QUEUED).exists():
        job_send("benchmark.jobs.run_execute")


def _end_lost(run: Run) -> None:
    # On another host its own workers clear it away.
    with suppress(SandboxFault):
        sandbox_reap(sandbox_name("run", run.pk))
    run_abandon(run)


@shared_task
def artifacts_store() -> None:
    """Put sealed files into object storage."""
    _storing.drain(lambda: bool(artifacts_pass()))
