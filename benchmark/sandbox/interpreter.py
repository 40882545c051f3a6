"""What of the host a Python interpreter needs to run elsewhere at the same path."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from benchmark.sandbox.contract import SandboxFault

SYSTEM = Path("/usr")
_ASK = "import sys, json; print(json.dumps([sys.prefix, sys.base_prefix, sys.base_exec_prefix]))"


@cache
def interpreter_folders(python: str) -> Sequence[Path]:
    """Folders to show, outermost first, without those that lie in /usr or in one another.

    They are the prefixes of the virtual environment and of its base, and wherever the interpreter's chain of symbolic
    links passes through.

    Raises: SandboxFault: `python` is no working interpreter.
    """
    prefixes = [sys.prefix, sys.base_prefix, sys.base_exec_prefix] if python == sys.executable else _ask(python)
    folders: set[Path] = set()
    for prefix in [*map(Path, prefixes), *(hop.parent.parent for hop in _hops(Path(python)))]:
        folders |= {prefix, prefix.resolve()}
    return outermost(folder for folder in folders if folder != SYSTEM and SYSTEM not in folder.parents)


def outermost(folders: Iterable[Path]) -> list[Path]:
    """Those that lie in no other one, in order."""
    wanted = sorted(set(folders))
    return [one for one in wanted if not any(other in one.parents for other in wanted)]


def _ask(python: str) -> list[str]:
    try:
        done = subprocess.run([python, "-I", "-c", _ASK], capture_output=True, text=True, timeout=30, check=True)
        return [str(prefix) for prefix in json.loads(done.stdout)]
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SandboxFault(f"{python} is not a working Python interpreter: {error}") from error


def _hops(path: Path) -> list[Path]:
    """The path and every one that its chain of symbolic links names."""
    hops = [path]
    while path.is_symlink() and len(hops) < 40:
        path = Path(os.path.normpath(path.parent / path.readlink()))
        hops.append(path)
    return hops
