"""What a worker does beside its jobs, as long as it lives: it says so, and clears its own host of leftovers."""

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection
from django.utils import timezone

from benchmark.alive import alive_say
from benchmark.models import HELD, Run
from benchmark.ports import grading_room
from benchmark.sandbox.contract import SandboxFault
from benchmark.services.artifacts import artifact_storage
from benchmark.services.holding import STOPPING
from benchmark.services.queueing import job_send
from benchmark.services.sandboxes import sandbox_leftovers, sandbox_number, sandbox_reap

log = logging.getLogger(__name__)
ALIVE_S, TIDY_S = 5.0, 30.0
YOUNG = timedelta(seconds=60)
"""What was claimed more recently is left alone: its row may be ahead of its sandbox, or behind."""


def duties_begin(*, adopt: Callable[[], None] | None) -> None:
    """Start the threads; they end with the process. `adopt` takes over agents whose worker is gone, one at a time."""
    threading.Thread(target=_work, name="duties", daemon=True).start()
    if adopt is not None:
        threading.Thread(target=_adopt_on, args=(adopt,), name="adoption", daemon=True).start()


def _adopt_on(adopt: Callable[[], None]) -> None:
    """One thread an agent: `adopt` drives what it takes over to its end."""
    busy: list[threading.Thread] = []
    while not STOPPING.is_set():
        busy = [thread for thread in busy if thread.is_alive()]
        if len(busy) < settings.AGENT_SLOTS:
            busy.append(threading.Thread(target=_quietly, args=(adopt,), name="adopting", daemon=True))
            busy[-1].start()
        STOPPING.wait(settings.HEARTBEAT_S)


def _quietly(action: Callable[[], object]) -> None:
    close_old_connections()
    try:
        action()
    except (DatabaseError, InterfaceError, SandboxFault) as error:
        log.warning("could not be done now: %s", error)
    except Exception:
        log.exception("could not be done; the worker goes on")
    finally:
        connection.close()


def _work() -> None:
    pause, due = threading.Event(), TIDY_S / 2
    spent = 0.0
    while not STOPPING.is_set():
        alive_say()
        if spent >= due:
            spent = 0.0
            due = TIDY_S
            _quietly(host_tidy)
            if settings.PLACE:
                # What the periodic jobs mend on the web server's disk is mended here too.
                job_send("traces.jobs.recordings_sweep", place=settings.PLACE)
                if artifact_storage() is not None:
                    job_send("benchmark.jobs.artifacts_store", place=settings.PLACE)
        pause.wait(ALIVE_S)
        spent += ALIVE_S


def host_tidy() -> list[str]:
    """End and remove sandboxes on this host whose run or evaluation nobody holds any more; what was removed.

    Raises: SandboxFault; DatabaseError.
    """
    removed = _sockets_tidied()
    for name in sandbox_leftovers():
        kind, number = sandbox_number(name)
        held = _HELD.get(kind)
        # Commands, such as `evaluate`, start sandboxes of other kinds and end them themselves.
        if held is not None and not held(number):
            log.warning("removing %s: nobody holds it", name)
            sandbox_reap(name)
            removed.append(name)
    return removed


def _sockets_tidied() -> list[str]:
    """Sockets that a killed worker's gateways left in folders of runs on this host."""
    left = {path.parts[-3]: path for path in (settings.DATA_DIR / "runs").glob("*/gateway/gateway.sock")}
    held = set(Run.objects.filter(slug__in=left, state__in=HELD).values_list("slug", flat=True))
    for slug in left.keys() - held:
        left[slug].unlink(missing_ok=True)
    return [str(left[slug]) for slug in left.keys() - held]


def _evaluation_held(number: int) -> bool:
    return grading_room().evaluation_held(number)


def _run_held(number: int) -> bool:
    if Run.objects.filter(pk=number, state__in=HELD).exists():
        return True
    grace = max(YOUNG, timedelta(seconds=2 * settings.HEARTBEAT_S))
    return Run.objects.filter(pk=number, ended_at__gt=timezone.now() - grace).exists()


_HELD: Mapping[str, Callable[[int], bool]] = {"run": _run_held, "evaluation": _evaluation_held}
"""By the kind of sandbox: whether somebody holds what it works for."""
