"""Starting the checking process, passing on its progress, and ending it in time."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from bundles.checking.report import Report

ROOT = Path(__file__).resolve().parents[2]
MEMORY_BYTES = 1 << 30
"""Of address space; what it really needs is a third."""
Tell = Callable[[str, int, int], bool]
"""Phase, done, of; False: give up."""


class CheckFailed(Exception):
    """The process ended without a report; the message says how."""


class CheckGivenUp(Exception):
    """The bundle is not ours any more."""


def check_apart(*, archive: Path, into: Path, seconds: float, tell: Tell) -> Report:
    """Unpack `archive` below the empty folder `into` and judge it.

    Raises: CheckFailed; CheckGivenUp; OSError.
    """
    told = into / "report.json"
    task = {
        "archive": str(archive),
        "into": str(into / "files"),
        "report": str(told),
        "memory_bytes": MEMORY_BYTES,
    }
    with (into / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "bundles.checking"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=ROOT,
            env={"PATH": os.environ.get("PATH", os.defpath), "PYTHONHASHSEED": "0"},
            start_new_session=True,
        )
    late = threading.Timer(seconds, _kill, [process])
    late.start()
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(task).encode())
        process.stdin.close()
        _follow(process.stdout, tell)
        code = process.wait()
    finally:
        timed_out = late.finished.is_set()
        late.cancel()
        _kill(process)
        process.wait()
    if timed_out:
        raise CheckFailed(f"it took longer than {seconds:g} s")
    try:
        return Report.from_data(json.loads(told.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        last = (into / "stderr").read_text(encoding="utf-8", errors="replace").strip().rsplit("\n", 1)[-1][-300:]
        raise CheckFailed(f"the checking process ended with {code}: {last}") from error


def _follow(lines: IO[bytes], tell: Tell) -> None:
    for line in lines:
        said = json.loads(line)
        if not tell(str(said["phase"]), int(said["done"]), int(said["of"])):
            raise CheckGivenUp


def _kill(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
