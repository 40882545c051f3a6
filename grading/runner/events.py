"""Progress as JSON lines on standard output, and nothing else there."""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from grading.contract import RunnerVerdict

PROGRESS_EVERY_S = 1.0


class Events:
    """Writes one JSON object a line. `progress` is thinned out to one line a second."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._last_progress = float("-inf")

    @classmethod
    def taking_stdout(cls) -> "Events":
        """Keep the real standard output for events; what libraries print from now on goes to standard error.

        Standard input becomes empty, so that nothing can wait for an answer.
        """
        sys.stdout.flush()
        stream = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
        os.dup2(2, 1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        return cls(stream)

    def _write(self, **event: Any) -> None:
        self._stream.write(json.dumps(event, ensure_ascii=False) + "\n")
        self._stream.flush()

    def phase(self, name: str) -> None:
        """One of loading, probing, generating, scoring begins."""
        self._write(event="phase", phase=name)

    def resumed(self, done: int, of: int) -> None:
        """`done` samples of an earlier attempt are kept."""
        self._write(event="resumed", done=done, of=of)

    def progress(self, done: int, of: int, tokens: int) -> None:
        """`done` of `of` samples are recorded, with `tokens` generated tokens in them."""
        now = self._clock()
        if done == of or now - self._last_progress >= PROGRESS_EVERY_S:
            self._last_progress = now
            self._write(event="progress", done=done, of=of, tokens=tokens)

    def verdict(self, verdict: RunnerVerdict) -> None:
        """The last line: whether there is a score, else whose fault and which code."""
        code = verdict.finding.code if verdict.finding else None
        self._write(event="verdict", score=verdict.score, fault=verdict.fault, code=code)
