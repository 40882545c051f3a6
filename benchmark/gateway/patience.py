"""How long a server may stay away."""

import time
from collections.abc import Iterator

HELD_S = 10.0


class Patience:
    """How long to go on trying, and how long to pause before the next attempt."""

    def __init__(self, seconds: float, *, longest_pause_s: float = 5.0) -> None:
        self.seconds = seconds
        self.longest_pause_s = longest_pause_s
        self._until: float | None = None
        self._pauses = self._growing()

    def left(self, held_s: float = 0.0) -> bool:
        """Whether to try again after an attempt that has just failed, whose connection had held for `held_s`.

        Patience starts anew after one that held for a while: a long request may live through several restarts.
        """
        now = time.monotonic()
        if self._until is None or held_s > HELD_S:
            self._until = now + self.seconds
            self._pauses = self._growing()
        return now < self._until

    def pause(self) -> float:
        return next(self._pauses)

    def _growing(self) -> Iterator[float]:
        seconds = 0.1
        while True:
            yield seconds
            seconds = min(seconds * 2, self.longest_pause_s)
