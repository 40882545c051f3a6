"""`python -m benchmark.alive`: whether the worker of this container still beats; for a health check."""

import os
import sys
import time
from pathlib import Path
from tempfile import gettempdir

BEAT = Path(gettempdir()) / f"agent2-worker-alive-{os.getuid()}"
"""Several people may have workers on one machine."""
STALE_S = 60.0


def alive_say() -> None:
    """Called by the worker again and again while it is well."""
    BEAT.touch()


def main() -> int:
    try:
        age = time.time() - BEAT.stat().st_mtime
    except OSError:
        print("no worker has begun here")  # noqa: T201
        return 1
    print(f"{age:.0f} s ago")  # noqa: T201
    return 0 if age < STALE_S else 1


if __name__ == "__main__":
    sys.exit(main())
