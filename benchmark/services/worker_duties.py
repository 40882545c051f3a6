"""What a worker does beside its jobs, as long as it lives: it says so, and clears its own host of leftovers."""

import logging
import threading
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection

from benchmark.alive import ALIVE_S, alive_say
from benchmark.sandbox.contract import SandboxFault
from benchmark.services.artifacts import artifact_storage
from benchmark.services.holding import STOPPING
from benchmark.services.host_tidying import host_tidy
from benchmark.services.queueing import job_send

log = logging.getLogger(__name__)
TIDY_S = 30.0


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
