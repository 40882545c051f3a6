"""Waiting for what another thread or process does, however busy the machine is, and making several requests meet."""

import threading
import time
from collections.abc import Callable
from typing import Any

from tests.support.judge import Behaviour, Reply

LONG_S = 60.0
"""Far longer than anything here takes: only what does not happen at all is waited for to the end."""


def until(true: Callable[[], object], what: str = "", seconds: float = LONG_S) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.02)


def together(number: int, then: Behaviour) -> Behaviour:
    """Answers only once `number` requests are there at the same time; fails those that nobody joins."""
    met = threading.Barrier(number)

    def behave(request: Any) -> Reply | None:
        met.wait(LONG_S)
        time.sleep(0.05)  # for one more than allowed to be seen
        return then(request)

    return behave
