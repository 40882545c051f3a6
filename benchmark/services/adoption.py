"""Runs whose agent lives on although its worker is gone: another worker on the same host takes them over.

Only Docker's containers outlive a worker. The token of a run is kept nowhere but in the container's environment, so
that is where the adopting worker reads it.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from benchmark.models import AgentLog, EventKind, Run, RunState, secret_hash
from benchmark.sandbox.docker import DockerSandbox
from benchmark.services.events import event_record
from benchmark.services.holding import Hold
from benchmark.services.reach import REACH
from benchmark.services.runs import worker_name
from benchmark.services.sandboxes import sandbox_for_grading, sandbox_leftovers, sandbox_name, sandbox_number

log = logging.getLogger(__name__)
GPUS = "GPUS"
"""The variable that tells an agent which of the host's GPUs it has."""
TOKEN = re.compile(r"/grading/([A-Za-z0-9_-]{43})$")


@dataclass(frozen=True)
class Adopted:
    """A hold on a run whose agent runs already, and the token it was given."""

    hold: Hold
    token: str

    @staticmethod
    def run_again(hold: Hold) -> Run:
        """The run as it stands, its agent running. Its log is followed anew, so what was kept of it goes."""
        Run.objects.filter(pk=hold.run_id).update(step="")
        AgentLog.objects.filter(run_id=hold.run_id).update(tail="", size=0)
        return Run.objects.get(pk=hold.run_id)


class RunLeft(Exception):
    """This worker ends and the agent does not."""


def runs_adoptable() -> list[Run]:
    """Running runs whose container is on this host and which no worker holds any more. Raises: SandboxFault."""
    if settings.SANDBOX not in ("docker", "auto"):
        return []
    numbers = [number for kind, number in map(sandbox_number, sandbox_leftovers()) if kind == "run"]
    silent = timezone.now() - timedelta(seconds=2 * settings.HEARTBEAT_S)
    free = Q(lease="") | Q(heartbeat_at__lt=silent) if REACH.tells() else Q(lease="")
    return list(Run.objects.filter(free, pk__in=numbers, state=RunState.RUNNING, sandbox="docker").order_by("id"))


def run_adopt(run: Run) -> Adopted | None:
    """Take over; None when somebody else was first, or the container is not this run's. Raises: SandboxFault."""
    token = _token_of(run)
    if token is None:
        return None
    hold, now = Hold(run.pk, uuid4().hex), timezone.now()
    mine = Run.objects.filter(pk=run.pk, state=RunState.RUNNING, lease=run.lease, heartbeat_at=run.heartbeat_at)
    if not mine.update(lease=hold.lease, worker=worker_name(), heartbeat_at=now):
        return None
    event_record(
        run.pk, EventKind.RUN_STEP, text=f"Taken over by {worker_name()} from {run.worker}; the agent runs on."
    )
    log.info("took %s over from %s", run.slug, run.worker)
    return Adopted(hold, token)


def run_leave(hold: Hold) -> bool:
    """Let go of a running run, for a worker on this host to adopt; False: it is not ours any more."""
    mine = Run.objects.filter(pk=hold.run_id, state=RunState.RUNNING, lease=hold.lease)
    return bool(mine.update(lease="", heartbeat_at=timezone.now()))


def run_taken_over(hold: Hold) -> bool:
    """Whether another worker drives the run by now, because this one was not heard of for too long."""
    if not hold.lost.is_set():
        return False
    return Run.objects.filter(pk=hold.run_id, state=RunState.RUNNING).exclude(lease__in=("", hold.lease)).exists()


def gpus_of_agent(run: Run) -> Sequence[str]:
    """Those that the run's container was given. Raises: SandboxFault."""
    return [name for name in _environment(run).get(GPUS, "").split(",") if name]


def _environment(run: Run) -> Mapping[str, str]:
    sandbox = sandbox_for_grading()
    return sandbox.environment_of(sandbox_name("run", run.pk)) if isinstance(sandbox, DockerSandbox) else {}


def _token_of(run: Run) -> str | None:
    found = TOKEN.search(_environment(run).get("GRADING_SERVER_URL", ""))
    return found[1] if found and secret_hash(found[1]) == run.token_hash else None


def runs_lost() -> list[Run]:
    """Held runs whose worker is silent, and whose agent nobody can adopt any more."""
    if not REACH.tells():
        return []
    silent = Run.objects.stale(2 * settings.HEARTBEAT_S)
    since = timezone.now() - timedelta(seconds=settings.ADOPT_S)
    adoptable = Q(state=RunState.RUNNING, sandbox="docker", heartbeat_at__gt=since)
    return list(silent.exclude(adoptable))
