"""The same loop with the real grading runner, in bubblewrap and in Docker."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.test_main_job import answers, log_of
from tests.support.docker_image import host_python_image
from tests.support.platform import Platform

REAL = {"AGENT2_GRADING_RUNNER": "grading.services.sandbox_runner.SandboxRunner", "AGENT2_HEARTBEAT_S": "3"}
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]
KINDS = [
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    pytest.param("docker", marks=pytest.mark.docker),
]


@pytest.fixture(scope="module", params=KINDS)
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    if request.param == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    extra = host_python_image() if request.param == "docker" else {}
    platform = Platform(tmp_path_factory.mktemp(f"real-{request.param}"), REAL | extra).start()
    try:
        yield platform
    finally:
        platform.stop()


def test_baseline_and_submission_are_graded_for_real(real: Platform, base: Path) -> None:
    slug = real.run(base, "submit:2")
    run = real.ended(slug, 900)
    assert run["state"] == "finished", log_of(real, slug)
    told = answers(real, slug)
    assert [a["state"] for a in told] == ["graded", "graded"]
    assert run["baseline_score"] is not None
    [out, *_] = sorted(real.data.glob("evaluations/*/out"))
    assert len((out / "samples.jsonl").read_text().splitlines()) == 500


def test_a_worker_killed_during_grading_is_resumed_by_another(real: Platform, base: Path) -> None:
    slug = real.run(base, "nowait:3")

    def grading() -> bool:
        rows = real.submissions(slug)
        return any(row["state"] == "grading" for row in rows)

    real.until(grading, 600, "something is in grading")
    real.kill("worker")
    real.start_worker()
    run = real.ended(slug, 900)
    # An agent in a container outlives its worker; one in bubblewrap dies with it.
    survives = run["sandbox"] == "docker"
    assert (run["state"], run["fault_code"]) == (("finished", "") if survives else ("failed", "worker_lost"))
    rows = real.submissions(slug)
    assert rows
    assert {row["state"] for row in rows} == {"graded"}


def test_a_server_killed_while_the_agent_waits_is_not_noticed(real: Platform, base: Path) -> None:
    slug = real.run(base, "submit:2")
    real.until(lambda: any(r["state"] == "grading" for r in real.submissions(slug)), 600, "in grading")
    real.kill("server")
    real.start_server()
    run = real.ended(slug, 900)
    assert run["state"] == "finished"
    assert [a["state"] for a in answers(real, slug)] == ["graded", "graded"]


def test_cancel_during_grading_leaves_nothing_running(real: Platform, base: Path) -> None:
    slug = real.run(base, "nowait:2")
    real.until(lambda: any(r["state"] == "grading" for r in real.submissions(slug)), 600, "in grading")
    real.manage("cancel", slug)
    assert real.ended(slug)["state"] == "cancelled"
    assert {r["state"] for r in real.submissions(slug)} <= {"graded", "errored"}
