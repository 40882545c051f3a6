"""How many pieces of work of one kind this process takes at a time. Work that finds no slot stays in the database."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Slots:
    """`count` slots; none is waited for."""

    def __init__(self, count: int) -> None:
        self._free = threading.BoundedSemaphore(count) if count else None

    @contextmanager
    def one(self) -> Iterator[bool]:
        """True inside when a slot was free."""
        got = self._free is not None and self._free.acquire(blocking=False)
        try:
            yield got
        finally:
            if got and self._free is not None:
                self._free.release()


def drain(slots: Slots, step: Callable[[], bool], more: Callable[[], bool]) -> None:
    """Repeat `step` in one slot until it finds nothing.

    A doorbell that rang while the slot was taken has been dropped, so `more` is asked again after the slot is free.
    """
    while True:
        with slots.one() as got:
            if not got:
                return
            while step():
                pass
        if not more():
            return
