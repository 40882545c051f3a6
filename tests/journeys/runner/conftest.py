"""A toy task and random checkpoints to grade with the real runner."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from grading.contract import RunnerSpec
from tests.unit.runner.checkpoints import llama, save

ROOT = Path(__file__).resolve().parents[3]
TOY = Path(__file__).parent / "toy"


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("base"), llama())


@pytest.fixture(scope="session")
def held_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("held_out")
    rows = [{"id": f"item-{n}", "turns": 1 + n % 3, "ask": "why so " + "abcdefgh"[: n % 8]} for n in range(24)]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture
def make_spec(base: Path, held_out: Path) -> Callable[..., RunnerSpec]:
    def make(**changes: Any) -> RunnerSpec:
        defaults: dict[str, Any] = {
            "protocol": "toy/1",
            "task_dir": str(TOY),
            "held_out": str(held_out),
            "checkpoint": str(base),
            "reference": str(base),
            "batch_size": 6,
            "threads": 1,
        }
        return RunnerSpec(**{**defaults, **changes})

    return make


def start(spec: RunnerSpec, out: Path, *, python: str = sys.executable, **env: str) -> "subprocess.Popen[str]":
    """The runner as its own process, with standard input left open: it must not read it."""
    path = out.parent / f"{out.name}.json"
    path.write_text(json.dumps(asdict(spec)))
    return subprocess.Popen(
        [python, "-m", "grading.runner", str(path), str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", **env},
    )


def finish(
    process: "subprocess.Popen[str]", out: Path, timeout: float = 600
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The verdict and the events of a run that must end with a verdict; every line of its output is an event."""
    stdout, stderr = process.communicate(timeout=timeout)
    assert process.returncode == 0, stderr[-3000:]
    return json.loads((out / "verdict.json").read_text()), [json.loads(line) for line in stdout.splitlines()]


def samples(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "samples.jsonl").read_text().splitlines()]
