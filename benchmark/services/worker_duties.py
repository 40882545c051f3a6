"""What a worker does beside its jobs, as long as it lives: it says so, and clears its own host of leftovers."""

import logging
import threading
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from benchmark.alive import alive_say
from benchmark.models import HELD, Run
from benchmark.ports import grading_room
from benchmark.sandbox.contract import SandboxFault
from benchmark.services.holding import STOPPING
from benchmark.services.sandboxes import sandbox_leftovers, sandbox_number, sandbox_reap

log = logging.getLogger(__name__)
ALIVE_S, TIDY_S = 5.0, 30.0
YOUNG = timedelta(seconds=60)
"""What was claimed more recently is left alone: its row may be ahead of its sandbox, or behind."""


def duties_begin() -> None:
    """Start the thread; it ends with the process."""
    threading.Thread(target=_work, name="duties", daemon=True).start()


def _work() -> None:
    pause, due = threading.Event(), TIDY_S / 2
    spent = 0.0
    while not STOPPING.is_set():
        alive_say()
        if spent >= due:
            spent = 0.0
            due = TIDY_S
            _quietly_tidy()
        pause.wait(ALIVE_S)
        spent += ALIVE_S


def _quietly_tidy() -> None:
    close_old_connections()
    try:
        host_tidy()
    except (DatabaseError, SandboxFault) as error:
        log.warning("leftovers could not be cleared now: %s", error)
    finally:
        connection.close()


def host_tidy() -> list[str]:
    """End and remove sandboxes on this host whose run or evaluation nobody holds any more; their names.

    Raises: SandboxFault; DatabaseError.
    """
    removed = []
    for name in sandbox_leftovers():
        kind, number = sandbox_number(name)
        held = _run_held(number) if kind == "run" else grading_room().evaluation_held(number)
        if not held:
            log.warning("removing %s: nobody holds it", name)
            sandbox_reap(name)
            removed.append(name)
    return removed


def _run_held(number: int) -> bool:
    if Run.objects.filter(pk=number, state__in=HELD).exists():
        return True
    grace = max(YOUNG, timedelta(seconds=2 * settings.HEARTBEAT_S))
    return Run.objects.filter(pk=number, ended_at__gt=timezone.now() - grace).exists()
