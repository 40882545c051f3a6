"""`python -m benchmark.alive`: whether the worker of this container still works; for a health check.

It does two things beside each other, its duties and taking messages from the broker, and says so from within each.
"""

import os
import sys
import time
from pathlib import Path
from tempfile import gettempdir

OURS = f"agent2-worker-{{}}-{os.getuid()}"
"""Several people may have workers on one machine."""
DUTIES, MESSAGES = (Path(gettempdir()) / OURS.format(name) for name in ("alive", "consumes"))
ALIVE_S, STALE_S = 5.0, 60.0


def alive_say() -> None:
    """Called by the worker's duties every `ALIVE_S` seconds while all is well."""
    DUTIES.touch()


def consuming_say() -> None:
    """Called as often by the loop that takes messages, while it is connected to the broker."""
    MESSAGES.touch()


def _age(beat: Path) -> float | None:
    try:
        return time.time() - beat.stat().st_mtime
    except OSError:
        return None


def main() -> int:
    ages = {"its duties": _age(DUTIES), "messages": _age(MESSAGES)}
    told = (f"{name}: " + ("never yet" if age is None else f"{age:.0f} s ago") for name, age in ages.items())
    print("the worker was last seen at", *told, sep="\n")  # noqa: T201
    return 0 if all(age is not None and age < STALE_S for age in ages.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
