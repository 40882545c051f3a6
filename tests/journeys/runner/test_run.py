"""The runner as a process: a score with what it rests on, progress as JSON lines, a kill survived."""

import hashlib
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grading.contract import RunnerSpec
from tests.journeys.runner.conftest import ROOT, finish, samples, start

Spec = Callable[..., RunnerSpec]


def test_a_run_from_spec_to_verdict(make_spec: Spec, tmp_path: Path) -> None:
    out = tmp_path / "out"
    verdict, events = finish(start(make_spec(), out), out)
    assert verdict["finding"] is None
    assert (verdict["fault"], verdict["n_expected"], verdict["n_scored"]) == (None, 24, 24)
    played = samples(out)
    assert [s["item_id"] for s in played] == [f"item-{n}" for n in range(24)]
    assert [len(s["outputs"]) for s in played] == [1 + n % 3 for n in range(24)]
    assert verdict["score"] == pytest.approx(100 * sum(s["reward"] for s in played) / 24)
    assert verdict["samples_sha256"] == hashlib.sha256((out / "samples.jsonl").read_bytes()).hexdigest()
    assert verdict["tokens"] == sum(s["tokens"] for s in played)
    assert verdict["sampling"]["do_sample"] is False
    assert {"python", "torch", "transformers", "engine", "dtype", "template_sha256", "batching"} <= verdict[
        "versions"
    ].keys()
    phases = [e["phase"] for e in events if e["event"] == "phase"]
    assert phases == ["loading", "probing", "generating", "scoring"]
    progress = [e for e in events if e["event"] == "progress"]
    assert progress[-1] == {"event": "progress", "done": 24, "of": 24, "tokens": verdict["tokens"]}
    assert events[-1]["event"] == "verdict"


def test_a_killed_run_resumes_without_generating_again(make_spec: Spec, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    expected, _ = finish(start(make_spec(), whole), whole)
    process = start(make_spec(batch_size=2), out, TOY_DELAY_S="0.1")
    path = out / "samples.jsonl"
    deadline = time.monotonic() + 120
    while not path.exists() or path.read_bytes().count(b"\n") < 6:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.communicate()
    assert not (out / "verdict.json").exists()
    kept = path.read_bytes().count(b"\n")
    with path.open("ab") as file:
        file.write(b'{"item_id": "item-23", "prompt_sha')
    verdict, events = finish(start(make_spec(batch_size=2), out), out)
    assert {"event": "resumed", "done": kept, "of": 24} in events
    assert 6 <= kept < 24
    assert (verdict["score"], verdict["samples_sha256"]) == (expected["score"], expected["samples_sha256"])


def test_a_wrong_spec_ends_with_two_and_one_line(tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text('{"protocol": "toy/1"}')
    command = [sys.executable, "-m", "grading.runner", str(tmp_path / "spec.json"), str(tmp_path / "out")]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.splitlines() == [f"{tmp_path / 'spec.json'}: lacks checkpoint, held_out, reference, task_dir"]


def test_usage(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "grading.runner"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert ended.returncode == 2
    assert "usage" in ended.stderr
