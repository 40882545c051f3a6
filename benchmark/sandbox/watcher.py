"""Runs in a container beside the command and tells what can be seen from there alone. Standard library only.

    python -c SOURCE SECONDS FOLDER...

Looks every so many seconds, and prints a line of JSON at first and whenever something has changed:
`{"forks_refused": N, "folders": [[block size, blocks, free blocks, files, free files], ...]}`, as statvfs(3) tells of
each folder's file system. Ends when its standard input does: whoever listens is gone then.
"""

import contextlib
import json
import os
import select
import sys
from collections.abc import Iterator

GROUPS = "/sys/fs/cgroup"


def fork_counters(membership: str) -> Iterator[str]:
    """Where the kernel may count the forks that it refused this container's group, from the text of /proc/self/cgroup.

    Engines show a container its own group as the root of the hierarchy, or all of the host's.
    """
    for line in membership.splitlines():
        _, controllers, own = line.split(":", 2)
        root = f"{GROUPS}/{controllers}" if controllers else GROUPS
        if controllers in ("", "pids"):
            yield from (f"{root}{own.rstrip('/')}/pids.events", f"{root}/pids.events")


def forks_refused(paths: list[str]) -> int:
    for path in paths:
        with contextlib.suppress(OSError, ValueError), open(path) as file:
            return int(dict(line.split() for line in file)["max"])
    return 0


def folder_told(path: str) -> list[int]:
    try:
        told = os.statvfs(path)
    except OSError:
        return [0] * 5
    return [told.f_frsize, told.f_blocks, told.f_bfree, told.f_files, told.f_ffree]


def main() -> None:
    pause, folders = float(sys.argv[1]), sys.argv[2:]
    with open("/proc/self/cgroup") as file:
        counters = list(fork_counters(file.read()))
    last = None
    while True:
        seen = {"forks_refused": forks_refused(counters), "folders": [folder_told(path) for path in folders]}
        if seen != last:
            print(json.dumps(seen), flush=True)  # noqa: T201
        last = seen
        if select.select([0], [], [], pause)[0]:
            return


if __name__ == "__main__":
    main()
