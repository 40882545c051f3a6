"""Our end of the process that generates problems and scores answers."""

import json
import os
import select
import subprocess
import sys
import time
import weakref
from pathlib import Path
from typing import Any

from benchmark.tasks.data_contract import DataUnavailable

ROOT = Path(__file__).resolve().parents[3]
SCORE_S = 20.0
"""For one answer. The right ones take milliseconds."""
PROBLEM_S = 600.0
"""For one problem, the first one with imports; some generators search long."""


class Generator:
    """One data set in a process that starts on first use and again after it was lost."""

    def __init__(self, dataset: str, config: dict[str, Any], *, seed: int, size: int) -> None:
        self.dataset = dataset
        self._order = {"dataset": dataset, "config": config, "seed": seed, "size": size}
        self._process: subprocess.Popen[bytes] | None = None

    def problem(self, index: int) -> dict[str, Any]:
        """`question`, `answer`, `metadata` and the question's `sha256`. Raises: DataUnavailable."""
        answer = self._ask({"index": index}, PROBLEM_S)
        if answer is None:
            raise DataUnavailable(f"reasoning-gym's {self.dataset} does not generate problem {index} here.")
        return answer

    def score(self, index: int, answer: str) -> dict[str, Any] | None:
        """`score`, or `raised` and `gold`; None: the answer takes too much time or memory. Raises: DataUnavailable."""
        if self._process is None:
            self.problem(index)
        return self._ask({"index": index, "answer": answer}, SCORE_S)

    def close(self) -> None:
        """End the process. Idempotent."""
        if self._process is not None:
            _stop(self._process)
            self._process = None

    def _ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any] | None:
        lines = [request] if self._process else [self._order, request]
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        try:
            process.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
            process.stdin.flush()
            block = _read_line(process, seconds)
        except OSError:
            block = None
        if block is None:
            self.close()
            return None
        answer: dict[str, Any] = json.loads(block)
        if "fault" in answer:
            self.close()
            raise DataUnavailable(answer["fault"])
        return answer

    def _start(self) -> "subprocess.Popen[bytes]":
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "benchmark.tasks.reasoning_gym.worker"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        weakref.finalize(self, _stop, process)
        return process


def _read_line(process: "subprocess.Popen[bytes]", seconds: float) -> bytes | None:
    """One line, or None when the time is over or the process ended."""
    assert process.stdout is not None
    deadline, block = time.monotonic() + seconds, b""
    while not block.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            return None
        piece = os.read(process.stdout.fileno(), 1 << 20)
        if not piece:
            return None
        block += piece
    return block


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.communicate()
