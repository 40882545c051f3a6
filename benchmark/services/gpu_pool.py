"""This worker's GPUs, lent to the runs that it drives, each to one at a time."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from django.conf import settings

from benchmark.sandbox.contract import SandboxFault

ALL = "all"


class GpuPool:
    """`names` as the sandbox takes them. The one name `all` is shared by whoever runs."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._free = list(names)
        self._lock = threading.Lock()

    @contextmanager
    def lent(self, count: int, *, known: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
        """`count` GPUs for the body; `known` are those that an adopted agent has already.

        Raises: SandboxFault: there are not that many free.
        """
        if self._names == (ALL,) or not self._names:
            yield self._names
            return
        with self._lock:
            taken = [name for name in known if name in self._free] if known else self._free[:count]
            if len(taken) < count and not known:
                raise SandboxFault(
                    f"The run needs {count} GPUs and {len(taken)} of {len(self._names)} are free on this worker: "
                    "AGENT2_AGENT_SLOTS times AGENT2_RUN_GPUS must not exceed AGENT2_GPUS."
                )
            self._free = [name for name in self._free if name not in taken]
        try:
            yield tuple(taken)
        finally:
            with self._lock:
                self._free = [name for name in self._names if name in self._free or name in taken]


@cache
def gpu_pool() -> GpuPool:
    return GpuPool(settings.GPUS)
