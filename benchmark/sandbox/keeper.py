"""Runs on the host as the parent of a command that is not isolated, and lets nothing of it live on.

    python keeper.py LIFELINE_FD -- COMMAND...

Waits for one byte on the lifeline before it starts the command. Orphans become its children (PR_SET_CHILD_SUBREAPER),
so daemons are no escape. When the command ends, or the lifeline closes because the supervisor is done or dead, it
kills every descendant and exits with the command's code (128 + signal).
"""

import contextlib
import ctypes
import os
import sys
import threading
import time

import psutil

PR_SET_CHILD_SUBREAPER = 36


def kill_descendants(timeout_s: float = 20.0) -> None:
    """SIGKILL until nobody is left. Zombies are the main thread's to collect."""
    me = psutil.Process()
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        living = [each for each in me.children(recursive=True) if _alive(each)]
        if not living:
            return
        for process in living:
            with contextlib.suppress(psutil.Error):
                process.kill()
        time.sleep(0.02)


def _alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


def kill_when_closed(lifeline: int) -> None:
    while os.read(lifeline, 1):
        pass
    kill_descendants()


def main() -> int:
    lifeline, command = int(sys.argv[1]), sys.argv[3:]
    os.set_inheritable(lifeline, False)
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot become the parent of orphans")
    if not os.read(lifeline, 1):
        return 137
    try:
        pid = os.posix_spawnp(command[0], command, os.environ)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201 - goes to the run's log
        return 127 if isinstance(error, FileNotFoundError) else 126
    threading.Thread(target=kill_when_closed, args=(lifeline,), daemon=True).start()
    ended, status = os.wait()
    while ended != pid:
        ended, status = os.wait()
    kill_descendants()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    code = main()
    os._exit(code)
