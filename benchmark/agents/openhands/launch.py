"""Run a Python program, and leave when it has ended: launch.py PROGRAM ARGUMENT...

OpenHands holds about half a million objects. To take them apart one by one costs the interpreter as much time as many a
conversation, a minute on a busy machine, and nobody needs it.
"""

import atexit
import os
import runpy
import sys

code = 1


def leave() -> None:
    """After all that the program itself wants done at its end."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


atexit.register(leave)
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
    code = 0
except SystemExit as end:
    code = end.code if isinstance(end.code, int) else int(end.code is not None)
    raise
