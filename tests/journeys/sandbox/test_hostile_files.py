"""What an agent leaves in its workspace, or exchanges while somebody looks: taken in, kept, measured and removed."""

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest

from benchmark.sandbox.contract import Limits, Mount
from benchmark.sandbox.disk import tree_held
from benchmark.sandbox.trees import tree_remove
from grading.intake import IntakeReport, View, base_facts, checkpoint_take
from tests.support.waiting import until
from traces.services.snapshots_walk import CodeWalk, Found, opened

from .conftest import ISOLATING, Bench
from .hostile_files import DEEP, NAME

PROGRAM = Path(__file__).with_name("hostile_files.py")
INSIDE = PurePosixPath("/workspace")
SECRET = "of the host"
MIB = 1 << 20
SEGMENT = 0x5EED_A2
"""Key of a shared memory segment that nobody else has."""
Take = Callable[[str], IntakeReport]
pytestmark = pytest.mark.parametrize("sandbox", ISOLATING, indirect=True)


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "work"
    made.mkdir()
    yield made
    tree_remove(made)


@pytest.fixture
def mounts(work: Path, base: Path) -> list[Mount]:
    return [
        Mount(work, INSIDE, read_only=False),
        Mount(base, PurePosixPath("/model")),
        Mount(PROGRAM, PurePosixPath("/program.py")),
    ]


@pytest.fixture
def take(work: Path, base: Path, tmp_path: Path) -> Take:
    facts, view = base_facts(base), View(((INSIDE, work),))

    def taken(path: str) -> IntakeReport:
        """Never a fault of the host's, and whatever is told of it can be stored."""
        report = checkpoint_take(view=view, workspace=INSIDE, model_path=path, base=facts, store=tmp_path / "store")
        assert not report.faulted, report.findings
        assert SECRET not in json.dumps(report.as_dict(), ensure_ascii=False).encode().decode()
        return report

    return taken


def code_of(work: Path) -> tuple[list[Found], CodeWalk]:
    walk = CodeWalk()
    with opened(None, str(work / "code"), os.O_DIRECTORY) as fd:
        return ([] if fd is None else list(walk.files(fd))), walk


def test_what_is_exchanged_while_it_is_taken_in_leads_nowhere_else(
    bench: Bench, work: Path, mounts: list[Mount], take: Take, tmp_path: Path
) -> None:
    secret = tmp_path / "host" / "config.json"
    secret.parent.mkdir()
    secret.write_text(json.dumps({"of": SECRET}))
    running = bench.start(f"exec python3 /program.py swap {secret}", mounts=mounts, workdir=INSIDE)
    until(lambda: "swapping" in bench.output(), seconds=240)
    for _ in range(40):
        take("out")
    # Each of them may have fallen between two exchanges.
    until(lambda: take("out").refused, seconds=240)
    found = [each for _ in range(40) for each in code_of(work)[0]]
    assert running.wait(0) is None, bench.output()
    running.stop(0)
    assert all(each.content is None or SECRET.encode() not in each.content for each in found)
    kept = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert all(SECRET.encode() not in path.read_bytes() for path in kept)


def test_whatever_lies_in_a_workspace_breaks_nobody(
    bench: Bench, work: Path, mounts: list[Mount], take: Take, base: Path, tmp_path: Path
) -> None:
    links = (base / "config.json").stat().st_nlink
    _, output = bench.run("exec python3 /program.py plant", mounts=mounts, workdir=INSIDE)
    assert output == "planted\n"
    assert (base / "config.json").stat().st_nlink == links
    told = {name: take(name) for name in ("bits", "bytes", "deep", "hard", "special", "code", "/".join([NAME] * DEEP))}
    codes = {name: {each.code for each in report.findings if each.refuses} for name, report in told.items()}
    assert "E_SPECIAL_FILE" in codes["special"]
    assert codes["deep"] == {"E_TOO_LARGE"}
    assert codes["bits"] == codes["hard"] == set()
    assert all(codes[name] for name in ("code", "/".join([NAME] * DEEP)))
    for path in (tmp_path / "store").rglob("*"):
        assert path.lstat().st_mode & (stat.S_ISUID | stat.S_ISGID | stat.S_IWOTH) == 0

    kept, walk = code_of(work)
    paths = [each.path for each in kept]
    assert {"tool", "-rf", "�.py", "new\nline.py"} <= {path.replace("��", "�") for path in paths}
    assert json.dumps([paths, walk.left_out, walk.notes], ensure_ascii=False).encode()
    assert {walk.left_out.get(name) for name in ("pipe.py", "socket.py")} <= {"no regular file", "could not be opened"}

    assert tree_held(work).files > 2 * DEEP
    tree_remove(work)
    assert not work.exists()


def test_so_many_files_that_the_disk_has_no_room_for_others(bench: Bench, work: Path, mounts: list[Mount]) -> None:
    script = "import time\nfor n in range(3000): open(f'{n}', 'w').close()\nprint('made', flush=True)\ntime.sleep(600)"
    ended, output = bench.run(
        f'exec python3 -c "{script}"', mounts=mounts, workdir=INSIDE, limits=Limits(disk_bytes=32 * MIB)
    )
    assert ended.exceeded == "disk"
    assert output in ("", "made\n")  # it may be ended before it has made all


def test_memory_that_is_shared_by_name_goes_with_the_sandbox(bench: Bench) -> None:
    script = (
        "import ctypes, os; open('/dev/shm/agent2-left', 'w').write('x'); "
        f"print(ctypes.CDLL(None).shmget({SEGMENT}, 4096, 0o1666) >= 0, os.listdir('/dev/shm'))"
    )
    ended, output = bench.run(f'python3 -c "{script}"')
    assert (ended.code, output) == (0, "True ['agent2-left']\n")
    assert "agent2-left" not in os.listdir("/dev/shm")
    assert str(SEGMENT) not in [line.split()[0] for line in Path("/proc/sysvipc/shm").read_text().splitlines()]
