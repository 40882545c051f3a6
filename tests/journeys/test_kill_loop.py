"""Kill -9 of each component at each state of a run: every row ends right, and nothing is left on the machine.

The most telling cases; all of them with AGENT2_KILL_EVERYTHING=1. `python -m tests.support.killing` prints all
as a table, in as many rounds as wanted.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.killing import CASES, SETTINGS, kill_once
from tests.support.pools import Scene, scene

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(1200)]
BUBBLEWRAP = pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)
DOCKER = pytest.param("docker", marks=pytest.mark.docker)
TELLING = {
    "bubblewrap": [("worker-agents", "running"), ("postgres", "grading")],
    "docker": [("worker-agents", "grading")],  # the runner's worker: test_real_grading
}


@pytest.fixture(scope="module", params=[BUBBLEWRAP, DOCKER])
def at(request: pytest.FixtureRequest) -> Iterator[Scene]:
    if request.param == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    # Not a folder of pytest: each session that starts closes their root to other users, and PostgreSQL runs as one.
    with tempfile.TemporaryDirectory(prefix="agent2-kill-") as made, scene(Path(made), request.param, **SETTINGS) as at:
        yield at


@pytest.mark.parametrize(("component", "state"), CASES)
def test_a_kill_strands_nothing(at: Scene, component: str, state: str) -> None:
    if (component, state) not in TELLING[at.sandbox] and not os.environ.get("AGENT2_KILL_EVERYTHING"):
        pytest.skip("not among the most telling cases: set AGENT2_KILL_EVERYTHING=1")
    row = kill_once(at, component, state)
    assert row.wrong == [], row.line()
