"""Doing something small again and again beside the work, in a thread of its own."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, OperationalError, close_old_connections, connection

T = TypeVar("T")
log = logging.getLogger(__name__)


@contextmanager
def repeated(action: Callable[[], None], *, every_s: float, name: str) -> Iterator[None]:
    """Call `action` every `every_s` seconds while the body works. A database that is away is tried again next time."""
    over = threading.Event()

    def go_on() -> None:
        try:
            while not over.wait(every_s):
                close_old_connections()
                try:
                    action()
                except (DatabaseError, InterfaceError):
                    connection.close()
                # A pool has fewer connections than there are threads that rest.
                close_old_connections()
        finally:
            connection.close()

    thread = threading.Thread(target=go_on, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=10)


def database_patiently(action: Callable[[], T], *, patience_s: float = 600.0) -> T:
    """The action's answer, tried again while the database is away. Raises: OperationalError, InterfaceError."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            return action()
        except (OperationalError, InterfaceError) as error:
            if time.monotonic() > deadline:
                raise
            log.warning("the database is away: %s", error)
            connection.close()
            time.sleep(1)
