"""Doing something small again and again beside the work, in a thread of its own."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError, close_old_connections, connection


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
                except DatabaseError:
                    connection.close()
        finally:
            connection.close()

    thread = threading.Thread(target=go_on, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=10)
