"""`manage.py evaluate`: a model behind an API and one on this machine, in the real grading sandbox."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.judge import Reply, ScriptedJudge, completion, refuses
from tests.support.platform import ROOT, Platform
from tests.support.waiting import together

pytestmark = [
    pytest.mark.bubblewrap,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]


def adds(request: Mapping[str, Any]) -> Reply:
    """A model that can add."""
    [message] = request["messages"]
    left, right = message["content"].rstrip("=").split("+")
    return completion(str(int(left) + int(right)))


def evaluate(platform: Platform, *args: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "manage.py", "evaluate", "--task", "arithmetic", *args]
    return subprocess.run(
        command, cwd=ROOT, env=platform.environment, capture_output=True, text=True, check=False, timeout=280
    )


def behind(server: ScriptedJudge, data: Path, **more: str) -> Platform:
    settings = {"AGENT2_ENDPOINT_URL": server.url, "AGENT2_ENDPOINT_MODEL": server.model}
    settings |= {"AGENT2_ENDPOINT_KEY": server.key, "AGENT2_ENDPOINT_PATIENCE_S": "60"}
    return Platform(data, {**settings, **more})


def test_a_model_behind_an_api(tmp_path: Path) -> None:
    with ScriptedJudge(together(2, adds)) as server:
        done = evaluate(behind(server, tmp_path), "--endpoint", "--limit", "40")
        assert done.returncode == 0, done.stderr
    told = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert told["score"] == "100.00"
    assert told["protocol"] == "arithmetic/1;limit=40 (limited, unranked)"
    assert told["prompts"] == "messages; raw texts as one user message"
    assert (told["endpoint"], told["endpoint_calls"]) == (server.model, "40")
    path = Path(told["samples"].removeprefix("40 of 40, "))
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    assert [sample["reward"] for sample in samples] == [1.0] * 40
    assert json.loads(Path(told["verdict"]).read_text())["score"] == 100
    assert server.most_at_once > 1
    # Neither the key nor the address is where the runner could read it.
    kept = [file.read_text() for file in path.parents[1].rglob("*") if file.is_file()]
    assert not any(server.key in text or server.url in text for text in kept)


def test_an_api_that_fails_is_no_zero_and_is_gone_on_with(tmp_path: Path) -> None:
    def tires(request: Mapping[str, Any]) -> Reply | None:
        return adds(request) if len(server.requests) <= 10 else refuses(500, "tired")(request)

    with ScriptedJudge(tires) as server:
        platform = behind(server, tmp_path, AGENT2_ENDPOINT_CONCURRENCY="2", AGENT2_ENDPOINT_PATIENCE_S="0.5")
        done = evaluate(platform, "--endpoint", "--limit", "30")
        assert done.returncode == 1
        assert "not scored" in done.stdout
        assert "I_PROVIDER: The endpoint answered 500" in done.stderr
        folder = done.stderr.strip().rpartition("--out ")[2]
        server.behave = adds
        asked = len(server.requests)
        done = evaluate(platform, "--endpoint", "--limit", "30", "--out", folder)
        assert done.returncode == 0, done.stderr
        assert 20 <= len(server.requests) - asked < 30
    assert "30 of 30" in done.stdout


def test_a_base_model_on_this_machine(base: Path, tmp_path: Path) -> None:
    done = evaluate(Platform(tmp_path), "--base-model", str(base), "--limit", "5")
    assert done.returncode == 0, done.stderr
    assert "5 of 5" in done.stdout
    assert "transformers" in done.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Name a base model"),
        (["--endpoint", "m"], "Set AGENT2_ENDPOINT_URL"),
        (["--base-model", "tiny", "--limit", "0"], "at least 1"),
        (["--base-model", "what"], "Give a built-in model"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line(args: list[str], message: str, tmp_path: Path) -> None:
    done = evaluate(Platform(tmp_path), *args)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
