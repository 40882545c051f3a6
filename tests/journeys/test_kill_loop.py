"""Kill -9 of each component at each state of a run: every row ends right, and nothing is left on the machine.

The most telling cases; all of them with AGENT2_KILL_EVERYTHING=1. `python -m tests.support.killing` prints all
as a table, in as many rounds as wanted.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.killing import COMPONENTS, STATES, Scene, kill_once, scene

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]
BUBBLEWRAP = pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)
DOCKER = pytest.param("docker", marks=pytest.mark.docker)
EVERY = [(c, s) for c in COMPONENTS for s in STATES if c != "agent" or s in ("running", "grading")]
TELLING = {
    "bubblewrap": [("worker", "running"), ("agent", "running")],
    "docker": [("worker", "running"), ("worker", "grading"), ("web", "grading")],
}


@pytest.fixture(scope="module", params=[BUBBLEWRAP, DOCKER])
def at(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    if request.param == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    folder: Path = tmp_path_factory.mktemp("kill")
    with scene(folder, request.param) as made:
        yield made


@pytest.mark.parametrize(("component", "state"), EVERY)
def test_a_kill_strands_nothing(at: Scene, component: str, state: str) -> None:
    if (component, state) not in TELLING[at.sandbox] and not os.environ.get("AGENT2_KILL_EVERYTHING"):
        pytest.skip("not among the most telling cases: set AGENT2_KILL_EVERYTHING=1")
    row = kill_once(at, component, state)
    assert row.wrong == [], row.line()
    lost = component == "worker" and state in ("running", "grading") and at.sandbox == "bubblewrap"
    if lost:
        # Its worker's death ends a bubblewrap sandbox, so there is nothing to go on with.
        assert (row.outcome, row.fault) == ("failed", "worker_lost")
    elif component != "agent":
        assert row.outcome == "finished", row.line()
