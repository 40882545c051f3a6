"""A worker reports: what it is, that it lives, and whether people told it to take nothing more."""

import contextlib
import logging
import platform
import threading
import time
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, transaction
from django.utils import timezone

from benchmark.models import Worker
from benchmark.models.worker import FORGOTTEN
from benchmark.services.audit import audit_record
from benchmark.services.gpus import gpus
from benchmark.services.holding import STOPPING
from benchmark.services.protocols import engine_in_force
from benchmark.services.reach import REACH
from benchmark.services.runs import worker_name
from benchmark.services.worker_check import worker_notices

DRAINING, _OVER = threading.Event(), threading.Event()
log = logging.getLogger(__name__)


def takes_work() -> bool:
    """Whether this process begins anything new."""
    return not STOPPING.is_set() and not DRAINING.is_set()


def worker_report(queues: Sequence[str]) -> threading.Thread:
    """Report now, and then at every heartbeat from a thread of its own, until `worker_leave`."""
    _OVER.clear()
    REACH.begin()
    thread = threading.Thread(target=_go_on, args=(tuple(queues),), name="worker-heartbeat", daemon=True)
    thread.start()
    return thread


def _go_on(queues: Sequence[str]) -> None:
    facts = worker_facts(queues)
    known = False
    while True:
        close_old_connections()
        began = time.monotonic()
        try:
            known = (known and worker_beat()) or worker_enter(facts)
            REACH.kept(time.monotonic() - began)
        except (DatabaseError, InterfaceError) as error:
            REACH.lost()
            log.warning("the worker's heartbeat could not be stored: %s", error)
        if _OVER.wait(settings.HEARTBEAT_S):
            break
    close_old_connections()


def worker_facts(queues: Sequence[str]) -> dict[str, Any]:
    """What does not change while it works."""
    slots = {"agents": settings.AGENT_SLOTS, "grading": settings.GRADING_SLOTS}
    return {
        "host": platform.node(),
        "place": settings.PLACE,
        "queues": list(queues),
        "slots": {queue: slots[queue] for queue in queues if queue in slots},
        "notices": worker_notices(set(queues)),
        "versions": {
            "python": platform.python_version(),
            "celery": version("celery"),
            "engine": engine_in_force(),
            "sandbox": settings.SANDBOX,
        },
    }


def worker_enter(facts: dict[str, Any]) -> bool:
    """Write this worker's row; rows of workers long gone are forgotten."""
    now = timezone.now()
    Worker.objects.filter(seen_at__lt=now - FORGOTTEN).delete()
    values = facts | {"started_at": now, "seen_at": now, "ended_at": None, "draining": False, "gpus": gpus()}
    Worker.objects.update_or_create(name=worker_name(), defaults=values)
    return True


def worker_beat() -> bool:
    """Say that it lives, and learn whether it is to drain; False: its row is gone."""
    mine = Worker.objects.filter(name=worker_name())
    if not mine.update(seen_at=timezone.now(), gpus=gpus()):
        return False
    if mine.filter(draining=True).exists():
        DRAINING.set()
    else:
        DRAINING.clear()
    return True


def worker_leave() -> None:
    """Say that it ends."""
    _OVER.set()
    with contextlib.suppress(DatabaseError):
        Worker.objects.filter(name=worker_name()).update(ended_at=timezone.now(), seen_at=timezone.now())


def worker_drain(*, worker: Worker, draining: bool, actor: Any) -> bool:
    """Tell a worker to take nothing more, or to go on; it hears it at its next heartbeat. False: nothing changed."""
    with transaction.atomic():
        changed = Worker.objects.filter(pk=worker.pk, draining=not draining).update(draining=draining) == 1
        if changed:
            action = "worker.drain" if draining else "worker.resume"
            audit_record(actor=actor, action=action, subject=worker, name=worker.name)
    return changed
