"""An agent that tries what it must not: contained, its run goes its way, and people are told."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.platform import Platform

pytestmark = pytest.mark.bubblewrap
FINDINGS = """
from benchmark.models import IntegrityFinding
for found in IntegrityFinding.objects.order_by("code"): print("FOUND", found.source, found.code, found.count)
"""


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Platform]:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    made = Platform(tmp_path / "data").start()
    yield made
    made.stop()


def test_what_was_tried_stands_in_the_runs_record(embedded: Platform, base: Path) -> None:
    slug = embedded.run(base, "attack")
    run = embedded.ended(slug)
    log = (embedded.data / "runs" / slug / "agent.log").read_text()
    assert run["state"] == "finished", log
    assert log.count(" 403\n") == 3
    assert "root:" not in log
    told = embedded.manage("shell", "-v0", "-c", FINDINGS)
    assert [line.split()[1:] for line in told.splitlines() if line.startswith("FOUND")] == [
        ["log", "clock", "1"],
        ["log", "docker_socket", "2"],
        ["gateway", "foreign_token", "1"],
        ["log", "host_proc", "2"],
        ["log", "new_namespace", "1"],
        ["gateway", "refused_address", "2"],
    ]
