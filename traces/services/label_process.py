"""The labeller in a process of its own: code that a run wrote is hostile input, and judging it takes a core a while.

Reads one JSON object from standard input and writes one: `{files, store, commands, model_path, base_model_path,
seconds}` to the report. Needs no Django.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from traces.methods import MethodReport, label_submission

MEMORY_BYTES = 2 << 30
SECONDS = 4.0
"""Of reading; the process is killed after three times as many."""
ROOT = Path(__file__).resolve().parents[2]


class LabellerFailed(Exception):
    """It ended without a report; the message says how."""


def label_apart(
    *, files: Mapping[str, str], store: Path, commands: Sequence[str], model_path: str, base_model_path: str
) -> dict[str, Any]:
    """The report on `files` (path → digest in `store`) as JSON. Raises: LabellerFailed."""
    task = {
        "files": dict(files),
        "store": str(store),
        "commands": list(commands),
        "model_path": model_path,
        "base_model_path": base_model_path,
        "seconds": SECONDS,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "traces.services.label_process"],
            input=json.dumps(task).encode(),
            capture_output=True,
            cwd=ROOT,
            env={"PATH": os.environ.get("PATH", os.defpath), "PYTHONHASHSEED": "0"},
            timeout=3 * SECONDS,
            check=False,
        )
        report: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise LabellerFailed(f"the code could not be judged within {3 * SECONDS:g} s") from error
    except (OSError, ValueError) as error:
        raise LabellerFailed("the code could not be judged: the labeller ended without a report") from error
    return report


def as_data(report: MethodReport) -> dict[str, Any]:
    """The report as JSON."""
    return {
        "methods": [method.value for method in report.methods],
        "confidence": report.confidence.value if report.confidence else "",
        "findings": [
            {
                "method": finding.method.value,
                "file": finding.evidence.file,
                "line": finding.evidence.line,
                "why": finding.evidence.why,
                "doubts": list(finding.doubts),
            }
            for finding in report.findings
        ],
        "notes": [{"file": note.file, "line": note.line, "why": note.why} for note in report.notes],
        "files_read": report.files_read,
        "files_seen": report.files_seen,
        "trains_unknown": report.trains_unknown,
    }


def main() -> None:
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    task = json.load(sys.stdin)
    store = Path(task["store"])
    code = {path: (store / digest[:2] / digest).read_bytes() for path, digest in task["files"].items()}
    report = label_submission(
        code,
        commands=task["commands"],
        model_path=task["model_path"],
        base_model_path=task["base_model_path"] or None,
        time_limit_s=task["seconds"],
    )
    json.dump(as_data(report), sys.stdout)


if __name__ == "__main__":
    main()
