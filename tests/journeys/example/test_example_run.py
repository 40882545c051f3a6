"""A whole run of the example agent on the real tiny model, with few steps: training, submitting, notes."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("trl")

from benchmark.tasks.data_contract import DataTarget
from grading.runner import tiny_model
from tests.journeys.example.grading_server import AGENT, GradingServer, agent_environment, grade, make_data, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
SHORT = {"sft_steps": 3, "grpo_steps": 4, "grpo_prompts": 2, "log_every": 1, "checked_items": 8}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("base") / "tiny"
    assert list(tiny_model.build(target, tiny_model.Recipe(steps=20)))[-1]["step"] == 20
    return target


@pytest.fixture
def data(tmp_path: Path) -> DataTarget:
    return make_data(tmp_path)


@pytest.fixture
def server(data: DataTarget, base: Path) -> Iterator[GradingServer]:
    baseline = grade(base, data.held_out, limit=40).score
    with serving(GradingServer(data.held_out, baseline, limit=40)) as running:
        yield running


def run_agent(folder: Path, base: Path, server: GradingServer, **more: str) -> tuple[int, str]:
    """Exit code and log. The agent's folder is read-only for it, as in a sandbox."""
    environment = agent_environment(folder, base, server, RECIPE=json.dumps(SHORT), **more)
    Path(environment["OUTPUT_DIR"]).mkdir(parents=True)
    done = subprocess.run(
        ["bash", str(AGENT / "start.sh")],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_supervised_then_grpo(tmp_path: Path, base: Path, server: GradingServer) -> None:
    code, log = run_agent(tmp_path, base, server)
    assert code == 0, log
    names = [Path(submission["model_path"]).name for submission in server.submissions]
    assert names == ["v1_sft", "v2_grpo", "v3_grpo"]
    assert all(submission["score"] is not None for submission in server.submissions)
    workspace = tmp_path / "workspace"
    assert {path.name for path in AGENT.glob("*.py")} == {p.name for p in (workspace / "code/example_agent").iterdir()}
    summary = (workspace / "summary.md").read_text(encoding="utf-8")
    assert all(f"| {name} |" in summary for name in names)
    assert "Warning" not in log
    assert all(line.startswith("[") for line in log.splitlines()), log
    assert "grpo   step 4/4" in log


def test_a_rejected_submission_is_told_and_the_run_goes_on(tmp_path: Path, base: Path, server: GradingServer) -> None:
    server.refuse = {1}
    code, log = run_agent(tmp_path, base, server, MODE="sft-only")
    assert code == 0, log
    assert "v1_sft: not scored, E_TEST: Refused for the test. To mend it: Submit another." in log
    assert [Path(submission["model_path"]).name for submission in server.submissions] == ["v1_sft", "v2_sft"]


def test_reinforcement_learning_only_is_submitted_when_that_is_the_mode(
    tmp_path: Path, base: Path, server: GradingServer
) -> None:
    code, log = run_agent(tmp_path, base, server, MODE="rl-oriented")
    assert code == 0, log
    assert [Path(submission["model_path"]).name for submission in server.submissions] == ["v1_grpo", "v2_grpo"]


def test_it_stops_when_time_is_short(tmp_path: Path, base: Path, server: GradingServer) -> None:
    server.budget_s = 1.0
    code, log = run_agent(tmp_path, base, server)
    assert code == 0, log
    assert "stopping here, time is short" in log
    assert "s left, grading takes" in log
    assert len(server.submissions) == 1


def test_a_built_model_is_complete_or_not_there_and_never_overwritten(base: Path) -> None:
    assert not list(base.parent.glob(".*"))
    before = sorted(os.listdir(base))
    assert tiny_model.main([str(base), "--steps", "1"]) == 1
    assert sorted(os.listdir(base)) == before
