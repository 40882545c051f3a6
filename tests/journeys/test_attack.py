"""An agent that tries all it must not, in one run: contained, the run goes its way, and people are told."""

import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from benchmark.sandbox.cgroup_find import find_controllers
from tests.support.docker_image import host_python_image
from tests.support.platform import Platform

LIMITS = {
    "AGENT2_RUN_PROCESSES": "64",
    "AGENT2_RUN_MEMORY_GB": "0.5",
    "AGENT2_RUN_DISK_GB": "0.2",
    "AGENT2_RUN_LOG_MB": "1",
}
TRIED = {
    "gateway": {"foreign_token", "forbidden_host", "refused_address", "malformed_request", "too_many_connections"},
    "log": {"clock", "docker_socket", "host_proc", "metadata_address", "mount", "new_namespace", "raw_socket"},
    "submission": {"E_SYMLINK", "E_SPECIAL_FILE", "outside"},
}
ENDS = {"sigterm": ("cancelled", "hit_sigterm"), "disk": ("failed", "limit_disk")}


@pytest.fixture(
    params=[
        pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
        pytest.param("docker", marks=pytest.mark.docker),
    ]
)
def platform(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Platform]:
    if request.param == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    sandbox = host_python_image() if request.param == "docker" else {"AGENT2_SANDBOX": "bubblewrap"}
    made = Platform(tmp_path / "data", LIMITS | sandbox).start()
    yield made
    made.stop()


def test_every_attempt_that_can_be_seen_is_told(platform: Platform, base: Path) -> None:
    docker = platform.extra["AGENT2_SANDBOX"] == "docker"
    bombs = docker or {"memory", "pids"} <= find_controllers().keys()
    last = "disk" if docker else "sigterm"
    slug = platform.run(base, f"attack:{last}{'+bombs' if bombs else ''}")
    folder = platform.data / "runs" / slug
    if last == "sigterm":
        platform.until((folder / "workspace" / "output" / "ignoring").exists, 240, "the agent ignores signals")
        platform.manage("cancel", slug)
    run = platform.ended(slug)
    log = (folder / "agent.log").read_text().partition("All work")[0]
    assert (run["state"], re.findall(r"^asked .* (\d+)$", log, re.MULTILINE)) == (ENDS[last][0], ["403"] * 4), log
    assert "two lengths 400\nmany connections 503\n" in log
    assert not re.search("^(ESCAPED|root:)", log, re.MULTILINE), log
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "agent.log").stat().st_size < 1.1 * (1 << 20)

    attempts = platform.get(slug, "integrity/")
    told: dict[str, set[str]] = {}
    for each in attempts:
        told.setdefault(each["source"], set()).add(each["code"])
    bombed = {"hit_memory", "hit_processes"} if bombs else set()
    assert told == {
        **TRIED,
        "log": TRIED["log"] | ({"fork_bomb"} if bombs else set()),
        "limit": {"hit_log", ENDS[last][1], *bombed},
    }

    page = unescape(platform.http.get(f"{platform.url}/runs/{slug}/integrity/").text)
    assert [each["title"] for each in attempts if each["title"] not in page] == []
    assert platform.ended(platform.run(base, "submit:1"))["best_score"] is not None, "others go on as before"
