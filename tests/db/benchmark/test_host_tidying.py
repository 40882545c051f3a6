"""A host is cleared of what nobody holds any more, and of nothing else."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark.models import RunState
from benchmark.sandbox.contract import SandboxFault
from benchmark.services import host_tidying, sandboxes
from benchmark.services.host_tidying import host_tidy
from benchmark.services.sandboxes import sandbox_name, sandbox_of_process
from grading.models import EvaluationState
from tests.support.rows import evaluation_row, run_row

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]
HOLDER = """
import sys, time
from pathlib import Path
from benchmark.services.locking import held_if_free
with held_if_free(Path(sys.argv[1])) as mine:
    print(mine, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def here(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the sandboxes on this host, none of them real."""
    settings.DATA_DIR = tmp_path
    names: list[str] = []

    def reap(name: str) -> None:
        names[:] = [each for each in names if each != name]

    monkeypatch.setattr(host_tidying, "sandbox_leftovers", lambda: list(names))
    for module in (host_tidying, sandboxes):
        monkeypatch.setattr(module, "sandbox_reap", reap)
    return names


@pytest.fixture
def process(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """One that is amid its smoke check or command."""
    lock = tmp_path / "sandboxes" / f"{sandbox_name('smoke', 5)}.lock"
    command = [sys.executable, "-c", HOLDER, str(lock)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "True\n"
        yield started
        started.kill()


def test_sandboxes_and_sockets_stay_as_long_as_their_rows_are_held(here: list[str], tmp_path: Path) -> None:
    held, over = run_row(), run_row(token_hash="x", state=RunState.FINISHED)
    graded = evaluation_row(held, "d1", state=EvaluationState.RUNNING)
    done = evaluation_row(held, "d2", state=EvaluationState.DONE)
    keep = [sandbox_name("run", held.pk), sandbox_name("evaluation", graded.pk)]
    here += [*keep, sandbox_name("run", over.pk), sandbox_name("evaluation", done.pk)]
    sockets = [tmp_path / "outside" / f"evaluation-{row.pk}.sock" for row in (graded, done)]
    sockets += [tmp_path / "runs" / row.slug / "gateway" / "gateway.sock" for row in (held, over)]
    for path in sockets:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    host_tidy()
    assert here == keep
    assert [path.exists() for path in sockets] == [True, False, True, False]


def test_what_a_process_has_without_a_row_goes_with_it(
    here: list[str], tmp_path: Path, process: "subprocess.Popen[str]"
) -> None:
    name = sandbox_name("smoke", 5)
    here.append(name)
    folder, socket = tmp_path / "sandboxes" / name, tmp_path / "outside" / "smoke-5.sock"
    for each in (folder, socket.parent):
        each.mkdir(parents=True)
    socket.touch()
    assert host_tidy() == []
    with pytest.raises(SandboxFault, match="another process"), sandbox_of_process(name):
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert sorted(host_tidy()) == sorted([name, str(socket)])
    assert (here, list(folder.parent.iterdir()), socket.exists()) == ([], [], False)


def test_the_next_of_that_name_takes_the_place_of_a_killed_one(
    here: list[str], tmp_path: Path, process: "subprocess.Popen[str]"
) -> None:
    process.kill()
    process.wait()
    name = sandbox_name("smoke", 5)
    (tmp_path / "sandboxes" / name / "old").mkdir(parents=True)
    with sandbox_of_process(name) as folder:
        assert list(folder.iterdir()) == []
        assert host_tidy() == []
    assert list(folder.parent.iterdir()) == []
