"""Starting the checking process, passing on its progress, and ending it in time."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from django.conf import settings

from benchmark.artifacts.contract import StorageUnavailable
from benchmark.services.artifacts import artifact_local
from bundles.checking.report import Report
from bundles.integrity.here import sources_here
from bundles.models import Bundle

log = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parents[2]
MEMORY_BYTES = 1 << 30
"""Of its own data; files that are mapped do not count. It really needs a tenth."""
Tell = Callable[[str, int, int], bool]
"""Phase, done, of; False: give up."""


class CheckFailed(Exception):
    """The process ended without a report; the message says how."""


class CheckGivenUp(Exception):
    """The bundle is not ours any more."""


def check_apart(bundle: Bundle, *, into: Path, known: Mapping[str, Any], tell: Tell) -> Report:
    """Unpack the archive to `into/files` and judge the run that the bundle is about.

    `known` is what this platform has: tasks with their protocols, base models.

    Raises: CheckFailed; CheckGivenUp; OSError.
    """
    asked = {"part": bundle.part, "known": dict(known), "sources": sources_here()}
    return Report.from_data(_apart(_task(bundle, into) | asked, into, tell))


def unpacked_apart(bundle: Bundle, *, into: Path) -> None:
    """Only unpack the archive to `into/files`. Raises: CheckFailed; OSError."""
    refused = _apart(_task(bundle, into) | {"only_unpack": True}, into, lambda *_: True).get("refused")
    if refused:
        raise CheckFailed(str(refused.get("text", "refused")))


def archive_here(bundle: Bundle) -> bool:
    """Bring the archive to this disk if it is not here; False: the object storage that has it is away."""
    try:
        artifact_local(bundle.path, sha256=bundle.sha256)
    except StorageUnavailable as error:
        log.warning("the archive of %s waits for the object storage: %s", bundle, error)
        return False
    except OSError:
        log.exception("the archive of %s could not be brought here", bundle)
    return True


def _task(bundle: Bundle, into: Path) -> dict[str, Any]:
    return {
        "archive": str(bundle.path),
        "filename": bundle.filename,
        "details": bundle.details,
        "into": str(into / "files"),
    }


def _apart(task: dict[str, Any], into: Path, tell: Tell) -> Mapping[str, Any]:
    told, seconds = into / "report.json", settings.BUNDLE_CHECK_S
    task = task | {"report": str(told), "memory_bytes": MEMORY_BYTES}
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
    code, timed_out = _watched(process, json.dumps(task).encode(), seconds, tell)
    if timed_out:
        raise CheckFailed(f"it took longer than {seconds:g} s")
    try:
        report: Mapping[str, Any] = json.loads(told.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        last = (into / "stderr").read_text(encoding="utf-8", errors="replace").strip().rsplit("\n", 1)[-1][-300:]
        raise CheckFailed(f"the checking process ended with {code}: {last}") from error
    return report


def _watched(process: "subprocess.Popen[bytes]", task: bytes, seconds: float, tell: Tell) -> tuple[int, bool]:
    """The exit code, and whether it was ended for being late. Raises: CheckGivenUp."""
    late = threading.Event()

    def end() -> None:
        late.set()
        _kill(process)

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.write(task)
            process.stdin.close()
        _follow(process.stdout, tell)
        process.wait()
    finally:
        timer.cancel()
        _kill(process)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                pipe.close() if pipe else None
    return process.returncode, late.is_set()


def _follow(lines: IO[bytes], tell: Tell) -> None:
    for line in lines:
        said = json.loads(line)
        if not tell(str(said["phase"]), int(said["done"]), int(said["of"])):
            raise CheckGivenUp


def _kill(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
