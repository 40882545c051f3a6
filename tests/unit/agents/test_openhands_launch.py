"""OpenHands' launcher: what its program wants done at its end is done, and nothing more."""

import subprocess
import sys
from pathlib import Path

LAUNCH = Path(__file__).resolve().parents[3] / "benchmark" / "agents" / "openhands" / "launch.py"
PROGRAM = """
import atexit, sys

class Kept:
    def __del__(self):
        print("taken apart")

sys.kept = Kept()
atexit.register(print, "at the end of", *sys.argv[1:])
"""


def launched(folder: Path, last: str) -> tuple[int, str, str]:
    program = folder / "program"
    program.write_text(PROGRAM + last)
    done = subprocess.run(
        [sys.executable, "-I", LAUNCH, program, "its", "words"], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_it_ends_with_its_own_code_and_takes_nothing_apart(tmp_path: Path) -> None:
    assert launched(tmp_path, "") == (0, "at the end of its words\n", "")
    assert launched(tmp_path, "sys.exit(3)") == (3, "at the end of its words\n", "")
    assert launched(tmp_path, "sys.exit()")[0] == 0


def test_a_failure_is_told(tmp_path: Path) -> None:
    code, _, told = launched(tmp_path, "sys.exit('no key')")
    assert (code, told) == (1, "no key\n")
    code, printed, told = launched(tmp_path, "raise ValueError('broken')")
    assert (code, printed) == (1, "at the end of its words\n")
    assert told.endswith("ValueError: broken\n")
