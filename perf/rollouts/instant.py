"""An engine without a model: every sequence gets a token each `step_s` seconds, or all are complete at once."""

import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from benchmark.tasks.contract import Completion
from grading.runner.engines.protocol import Request
from grading.runner.stops import Decoder

SHORTEST, LONGEST = 100, 400
"""Tokens of an answer; lengths differ as a trained checkpoint's do."""


class InstantEngine:
    """`rows` sequences at a time. An answer is a part of its prompt, decoded as the real engines decode."""

    sampling: Mapping[str, Any] = {}

    def __init__(self, decoder: Decoder, *, rows: int, step_s: float) -> None:
        self._decoder = decoder
        self._rows = rows
        self._step_s = step_s
        self._queue: deque[tuple[int, Request]] = deque()
        self._active: dict[int, tuple[Request, int]] = {}
        """With the number of the step that ends it."""
        self.steps = 0
        self.idle_rows = 0
        """Over all steps, rows that stood empty."""
        self.began = self.began_cpu = self.began_main = 0.0

    def load(self) -> None: ...

    def probe(self, tokens: tuple[int, ...]) -> None:
        """Generating begins."""
        self.began, self.began_cpu, self.began_main = time.monotonic(), time.process_time(), time.thread_time()

    def submit(self, key: int, request: Request) -> None:
        self._queue.append((key, request))

    def step(self) -> list[tuple[int, Completion]]:
        self.steps += 1
        while self._queue and len(self._active) < self._rows:
            key, request = self._queue.popleft()
            self._active[key] = (request, self.steps + (length(key) - 1 if self._step_s else 0))
        self.idle_rows += self._rows - len(self._active)
        if self._step_s:
            time.sleep(self._step_s)
        done = [key for key, (_, end) in self._active.items() if end <= self.steps]
        return [(key, self._answer(key, self._active.pop(key)[0])) for key in done]

    def _answer(self, key: int, request: Request) -> Completion:
        tokens = request.tokens[-length(key) :]
        return Completion(self._decoder.text(tokens, request.stop), len(tokens), "stop")

    def versions(self) -> dict[str, str]:
        return {"batching": "none"}

    def metrics(self) -> dict[str, float | None]:
        return {}


def length(key: int) -> int:
    """Tokens of the answer to the request `key`."""
    return SHORTEST + key * 7919 % (LONGEST - SHORTEST)
