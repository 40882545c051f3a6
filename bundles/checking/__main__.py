"""`python -m bundles.checking < task.json`: `{archive, into, report, …}`; progress on standard output."""

import json
import os
import resource
import sys
import time
from dataclasses import replace
from pathlib import Path

from bundles.checking.reading import bundle_read


def tell(phase: str, done: int = 0, of: int = 0) -> None:
    """One line of progress."""
    print(json.dumps({"phase": phase, "done": done, "of": of}), flush=True)  # noqa: T201


def main() -> None:
    began = time.monotonic()
    task = json.load(sys.stdin)
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_DATA, (task["memory_bytes"], task["memory_bytes"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    report = bundle_read(task, tell)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report = replace(report, seconds=time.monotonic() - began, peak_mb=peak)
    Path(task["report"]).write_text(json.dumps(report.as_data()), encoding="utf-8")


if __name__ == "__main__":
    main()
