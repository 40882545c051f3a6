"""What every started command has in common: waiting under limits, and stopping once."""

import time
from abc import ABC, abstractmethod

from benchmark.sandbox.contract import Exit, Usage
from benchmark.sandbox.limits import LimitWatch

TICK_S = 0.5
DEATH_S = 30.0
"""How long the kernel may take to end what was killed: a busy machine takes seconds."""


class WatchedRunning(ABC):
    """A `Running` under a `LimitWatch`; each way of isolating says how its command ends."""

    def __init__(self, name: str, watch: LimitWatch) -> None:
        self.name = name
        self._watch = watch
        self._exit: Exit | None = None

    @property
    def root_pid(self) -> int | None:
        """The ancestor of everything inside, on this host."""
        return self._watch.root.pid if self._watch.root is not None else None

    @property
    def hits(self) -> frozenset[str]:
        return frozenset(self._watch.hits)

    def usage(self) -> Usage | None:
        return None

    @abstractmethod
    def _ended_within(self, seconds: float) -> bool:
        """Block for at most `seconds`; whether the command has ended by itself."""

    @abstractmethod
    def _ask_to_end(self) -> None:
        """Send SIGTERM to everything inside."""

    @abstractmethod
    def _finish(self, *, exceeded: str | None = None, stopped: bool = False) -> Exit:
        """Kill whatever is left, wait until nothing of it is alive, and give back what it held.

        Raises: SandboxFault: it cannot be ended, or it never came as far as the command.
        """

    def wait(self, timeout_s: float) -> Exit | None:
        """Raises: SandboxFault: the sandbox was lost, or failed before the command started."""
        deadline = time.monotonic() + timeout_s
        while self._exit is None:
            left = max(0.0, deadline - time.monotonic())
            if self._ended_within(min(TICK_S, left)):
                self._exit = self._finish()
            elif exceeded := self._watch.exceeded():
                self._exit = self._finish(exceeded=exceeded)
            elif left == 0.0:
                return None
        return self._exit

    def leave(self) -> bool:
        return False

    def stop(self, grace_s: float = 2.0) -> Exit:
        if self._exit is None:
            if grace_s > 0:
                self._ask_to_end()
                if not self._ended_within(grace_s):
                    self._watch.hits.add("sigterm")
            self._exit = self._finish(stopped=True)
        return self._exit
