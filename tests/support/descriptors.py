"""What a process holds open, while nothing is collected: descriptors that only a collection closes are told too."""

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No collection during the body, as in a worker whose next full one is many runs away."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()


def held_open() -> int:
    """How many descriptors."""
    return len(os.listdir("/proc/self/fd"))


def growth(action: Callable[[], object], count: Callable[[], int], *, times: int = 6, warm: int = 2) -> int:
    """By how much `count` grew from the end of the action's `warm`th time to that of its last."""
    with uncollected():
        counted = []
        for _ in range(times):
            action()
            counted.append(count())
    return counted[-1] - counted[warm - 1]
