"""How many pieces of work of one kind this process takes at a time. Work that finds no slot stays in the database."""

import threading
from collections.abc import Callable


class Slots:
    """`count` slots; none is waited for. 0: this process takes no such work."""

    def __init__(self, count: int) -> None:
        self._free = threading.BoundedSemaphore(count) if count else None
        self._rang = threading.Event()

    def drain(self, step: Callable[[], bool]) -> None:
        """Repeat `step` in one slot until it finds nothing.

        A doorbell that rings while every slot is taken is only noted; whoever gives a slot back looks once more for it.
        """
        if self._free is None:
            return
        while True:
            if not self._free.acquire(blocking=False):
                self._rang.set()
                return
            self._rang.clear()
            try:
                while step():
                    pass
            finally:
                self._free.release()
            if not self._rang.is_set():
                return
