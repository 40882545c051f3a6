"""The grader's end of the judge process: one completion in, one outcome out, however long or broken it is."""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
ANSWER_S = 120.0
"""Far more than a trial may take: a judge that has not answered by then never will."""
ENVIRONMENT = {"PYTHONPATH": str(FOLDER.parent), "PYTHONHASHSEED": "0", "LANG": "C.UTF-8"}
"""The hash seed is fixed, so that the order of sets, and with it a score, is the same every time."""


class CourtFault(Exception):
    """Ours: no verdict can be had here."""


@dataclass(frozen=True)
class Outcome:
    """How a completion fared. `kind` is one of passed, no_code, syntax_error, time_out, wrong_answer, error."""

    kind: str
    detail: str
    program: str
    reference_passed: bool
    """Whether it also passes with the code that the reference implementation would take from it."""


class Court:
    """Starts the judge on first use and again after it was lost."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def outcome(self, problem: Mapping[str, str], completion: str) -> Outcome:
        """Try one completion. Raises: CourtFault."""
        request = {key: problem[key] for key in ("prompt", "entry_point", "test")} | {"completion": completion}
        process = self._process = self._process or self._start()
        try:
            answer = _exchange(process, json.dumps(request).encode() + b"\n")
        except CourtFault:
            self.close()
            raise
        if "fault" in answer:
            raise CourtFault(f"completions cannot be tried safely here: {answer['fault']}")
        return Outcome(**answer)

    def close(self) -> None:
        """End the judge. Idempotent."""
        if self._process is not None:
            _stop(self._process)
            self._process = None

    def _start(self) -> "subprocess.Popen[bytes]":
        folder = tempfile.TemporaryDirectory(prefix="judge-")
        command = [sys.executable, "-s", "-S", "-P", "-B", "-m", f"{FOLDER.name}.judge"]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT, cwd=folder.name
        )
        weakref.finalize(self, _stop, process)
        weakref.finalize(self, folder.cleanup)
        return process


def _stop(process: "subprocess.Popen[bytes]") -> None:
    # The judge's end closes its sockets: the nursery then kills its candidate and ends.
    process.kill()
    process.communicate()


def _exchange(process: "subprocess.Popen[bytes]", line: bytes) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    deadline = time.monotonic() + ANSWER_S
    block = b""
    try:
        process.stdin.write(line)
        process.stdin.flush()
        while not block.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                raise CourtFault(f"the judge did not answer within {ANSWER_S:g} s")
            piece = os.read(process.stdout.fileno(), 1 << 20)
            if not piece:
                raise CourtFault(f"the judge ended with code {process.wait()}")
            block += piece
    except OSError as error:
        raise CourtFault(f"the judge is lost: {error}") from error
    answer: dict[str, Any] = json.loads(block)
    return answer
