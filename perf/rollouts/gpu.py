"""What a GPU does while something is measured, and how long the engine had the word."""

import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from benchmark.tasks.contract import Completion
from grading.runner.engines.protocol import Engine, Request

EVERY_MS = 200
QUERY = "utilization.gpu,power.draw,memory.used"
Sample = tuple[float, tuple[float, ...]]


class Watch:
    """Samples of all that `nvidia-smi` tells, from the beginning of a `with` block to its end; none without it."""

    def __init__(self) -> None:
        self._samples: list[Sample] = []
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Watch":
        command = ["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader,nounits", f"--loop-ms={EVERY_MS}"]
        with suppress(FileNotFoundError):
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            threading.Thread(target=self._read, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        if self._process is None or self._process.stdout is None:
            return
        for line in self._process.stdout:
            with suppress(ValueError):
                self._samples.append((time.monotonic(), tuple(float(part) for part in line.split(","))))

    def since(self, began: float) -> dict[str, float]:
        """Means from `began` (monotonic seconds) on: percent of the time a kernel ran, watts, MiB in use."""
        told = [values for at, values in list(self._samples) if at >= began]
        if not told:
            return {}
        names = ("gpu_percent", "watts", "gpu_mib")
        return {name: sum(column) / len(told) for name, column in zip(names, zip(*told, strict=True), strict=True)}


class Timed:
    """An engine, and the seconds spent in it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.seconds = {"submit": 0.0, "step": 0.0}
        self.steps = 0

    @property
    def sampling(self) -> Mapping[str, Any]:
        return self._engine.sampling

    def load(self) -> None:
        self._engine.load()

    def probe(self, tokens: tuple[int, ...]) -> None:
        self._engine.probe(tokens)

    def submit(self, key: int, request: Request) -> None:
        with self._timed("submit"):
            self._engine.submit(key, request)

    def step(self) -> list[tuple[int, Completion]]:
        self.steps += 1
        with self._timed("step"):
            return self._engine.step()

    def versions(self) -> dict[str, str]:
        return self._engine.versions()

    def metrics(self) -> dict[str, float | None]:
        return self._engine.metrics()

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.seconds[what] += time.monotonic() - began
