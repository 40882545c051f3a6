"""Candidates that want a pass which they have not earned, or want the grader to fall over."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from benchmark.tasks.humaneval.court import FOLDER, Court, CourtFault
from benchmark.tasks.humaneval.judge import Judge
from tests.support.waiting import until
from tests.unit.tasks.humaneval.programs import LOOPS, LOSES, WAITS

PROBLEM = {
    "prompt": "def secret(x):\n    ...\n",
    "entry_point": "secret",
    "test": "def check(candidate):\n    assert candidate(1) == 'expected-7f3a'\n    assert candidate(2) is False\n",
}


def tried(court: Court, code: str, test: str = PROBLEM["test"]) -> tuple[str, str]:
    found = court.outcome({**PROBLEM, "test": test}, code)
    return found.kind, found.detail


def returned(court: Court, expression: str, before: str = "") -> str:
    """What the expression is worth inside a candidate: an assertion shows it."""
    code = f"{before}\ndef secret(x):\n    return repr({expression})\n"
    kind, detail = tried(court, code, "def check(candidate):\n    assert False, candidate(1)\n")
    assert kind in ("wrong_answer", "error"), detail
    return detail


def test_the_honest_answer_passes(court: Court) -> None:
    assert tried(court, "def secret(x):\n    return 'expected-7f3a' if x == 1 else False\n") == ("passed", "")


@pytest.mark.parametrize("code", LOSES.values(), ids=LOSES.keys())
def test_loses(court: Court, code: str) -> None:
    kind, detail = tried(court, code)
    assert kind in ("wrong_answer", "error", "time_out"), detail
    # The next candidate is none the worse for it.
    assert tried(court, "def secret(x):\n    return 'expected-7f3a' if x == 1 else False\n")[0] == "passed"


@pytest.mark.parametrize("code", LOOPS.values(), ids=LOOPS.keys())
def test_time_is_limited(court: Court, code: str) -> None:
    assert tried(court, code)[0] == "time_out"


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> Judge:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[4]))
    return Judge(wall_s=1.0)


@pytest.mark.parametrize("code", WAITS.values(), ids=WAITS.keys())
def test_waiting_is_limited(brief: Judge, code: str) -> None:
    began = time.monotonic()
    assert brief.verdict({**PROBLEM, "completion": code})["kind"] == "time_out"
    assert time.monotonic() - began < 120


CANNOT = {
    "read a file": ("open('/etc/hostname').read()", "PermissionError"),
    "read the tests": ("open(__import__('glob').__file__).read()", "PermissionError"),
    "list": ("__import__('os').listdir('/')", "PermissionError"),
    "write": ("open('/tmp/x', 'w')", "PermissionError"),
    "read a parent's memory": (f"open('/proc/{os.getpid()}/mem', 'rb')", "PermissionError"),
    "see processes": ("__import__('os').stat('/proc/1')", "PermissionError"),
    "fork": ("__import__('os').fork()", "PermissionError"),
    "start a program": ("__import__('subprocess').run(['true'])", "PermissionError"),
    "start a thread": ("__import__('_thread').start_new_thread(print, ())", "can't start new thread"),
    "make a socket": ("__import__('_socket').socket()", "PermissionError"),
    "kill everybody": ("__import__('os').kill(-1, 9)", "PermissionError"),
    "kill its parent": ("__import__('os').kill(__import__('os').getpid() - 1, 9)", "PermissionError"),
    "raise its limits": ("__import__('resource').setrlimit(0, (9, 9))", "Error"),
    "import what is not loaded": ("__import__('sqlite3')", "No module named"),
}


@pytest.mark.parametrize(("expression", "error"), CANNOT.values(), ids=CANNOT.keys())
def test_cannot(court: Court, expression: str, error: str) -> None:
    assert error in returned(court, expression)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of this machine's system calls")
@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (2, "b'/etc/passwd', 0"),
        (101, "16, 1, 0, 0"),
        (310, "1, 0, 0, 0, 0, 0"),
        (57, ""),
        (41, "2, 1, 0"),
        (425, "8, 0"),
    ],
    ids=["open", "ptrace", "process_vm_readv", "fork", "socket", "io_uring_setup"],
)
def test_native_code_is_locked_down_too(court: Court, call: int, arguments: str) -> None:
    before = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)"
    listed = f", {arguments}" if arguments else ""
    assert returned(court, f"(libc.syscall({call}{listed}), ctypes.get_errno())", before) == "(-1, 1)"


def test_nothing_to_be_found(court: Court) -> None:
    """No test, no expected value, no path or setting of the grader is anywhere in the process."""
    code = """
import gc, sys

def places():
    yield from gc.get_objects()
    frame = sys._getframe()
    while frame:
        yield from (frame.f_locals, *[value for value in frame.f_locals.values() if type(value) is dict])
        frame = frame.f_back

def strings():
    for each in places():
        if type(each) is dict:
            yield from (value for value in [*each.keys(), *each.values()] if type(value) is str)
        elif type(each) in (list, tuple):
            yield from (value for value in each if type(value) is str)

# Backwards, so as not to find itself. The prompt has to be found: the search works.
WANTED = (":)x(terces fed", "a3f7-detcepxe", "etadidnac(kcehc")

def secret(x):
    return sorted({part for part in WANTED for each in strings() if part in each[::-1]})
"""
    test = "HIDDEN = 'expected-7f3a'\n\ndef check(candidate):\n    assert candidate(1) == [':)x(terces fed']\n"
    assert tried(court, code, test) == ("passed", "")
    assert returned(court, "dict(__import__('os').environ)") == "{}"


def test_descriptors_lead_nowhere_else(court: Court) -> None:
    code = (
        "import os\ndef is_open(fd):\n    try: os.write(fd, b'')\n    except OSError: return False\n    return True\n"
    )
    assert returned(court, "[fd for fd in range(64) if is_open(fd)]", code) == "[0, 1, 2, 3]"


def test_arguments_are_copies(court: Court) -> None:
    test = """
def check(candidate):
    given = [3, 1, 2]
    assert candidate(given) == [1, 2, 3]
    assert given == [3, 1, 2]
"""
    assert tried(court, "def secret(x):\n    x.sort()\n    return x\n", test)[0] == "passed"


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("import collections\ndef secret(x): return collections.Counter('aab')", "{'a': 2, 'b': 1}"),
        ("import collections\ndef secret(x): return collections.namedtuple('P', 'a b')(1, [2])", "(1, [2])"),
        ("def secret(x): return {(1, 2): {3.5, None}, 'é': frozenset()}", "{(1, 2): {3.5, None}, 'é': frozenset()}"),
        ("def secret(x): return [10**2000, -0.0, 1j, b'a']", "[10**2000, -0.0, 1j, b'a']"),
        ("def secret(x): return [True, 1, 1.0, '1']", "[True, 1, 1.0, '1']"),
        ("import hashlib\ndef secret(x): return hashlib.md5(b'').hexdigest()", "'d41d8cd98f00b204e9800998ecf8427e'"),
        ("import datetime\ndef secret(x): return datetime.datetime.strptime('2024', '%Y').year", "2024"),
        ("import random, numpy\ndef secret(x): return 1", None),
    ],
)
def test_honest_values_arrive(court: Court, code: str, value: str | None) -> None:
    test = f"def check(candidate):\n    found = candidate(1)\n    assert repr(found) == repr({value})\n"
    assert tried(court, code, test)[0] == ("passed" if value else "error")


def test_a_test_that_calls_nothing_is_our_fault(court: Court) -> None:
    with pytest.raises(CourtFault, match="called nothing"):
        tried(court, "def secret(x): return 1\n", "def check(candidate):\n    pass\n")


def test_a_lost_judge_is_our_fault_and_comes_back() -> None:
    court = Court()
    answer = "def secret(x):\n    return 'expected-7f3a' if x == 1 else False\n"
    assert tried(court, answer)[0] == "passed"
    process = court._process
    assert process is not None
    process.kill()
    with pytest.raises(CourtFault):
        tried(court, answer)
    assert tried(court, answer)[0] == "passed"
    court.close()


def test_nothing_outlives_the_court() -> None:
    """Looked for among our own descendants: other tests have courts at the same time."""

    def line(process: psutil.Process) -> str:
        """Empty once it has ended."""
        with suppress(psutil.NoSuchProcess):
            return " ".join(process.cmdline()) if process.is_running() else ""
        return ""

    def relatives() -> set[psutil.Process]:
        found = psutil.Process().children(recursive=True)
        return {
            each for each in found if f"{FOLDER.name}.nursery" in line(each) or f"{FOLDER.name}.judge" in line(each)
        }

    before = relatives()
    court = Court()
    assert tried(court, "def secret(x):\n    return 1\n")[0] == "wrong_answer"
    mine = relatives() - before
    assert len(mine) >= 2
    court.close()
    until(lambda: not any(map(line, mine)), "all of the court has ended")


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is Linux's")
def test_a_machine_without_the_filter_grades_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A kernel that refuses the filter: here because the judge's Python is told of another machine."""
    (tmp_path / "sitecustomize.py").write_text("")
    fake = tmp_path / "fake" / FOLDER.name
    fake.mkdir(parents=True)
    for path in FOLDER.glob("*.py"):
        text = path.read_text().replace("os.uname().machine", "'sparc64'")
        (fake / path.name).write_text(text)
    monkeypatch.setattr("benchmark.tasks.humaneval.court.ENVIRONMENT", {"PYTHONPATH": str(fake.parent)})
    court = Court()
    with pytest.raises(CourtFault, match="no system call filter for sparc64"):
        tried(court, "def secret(x): return 1\n")
    court.close()
