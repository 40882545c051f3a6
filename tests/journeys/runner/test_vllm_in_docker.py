"""vLLM grades inside the Docker sandbox: no network, no compiler, a read-only root, limits, another interpreter."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.runner.test_vllm import PYTHON
from tests.support.docker_image import host_python_image
from tests.support.platform import ROOT, Platform
from tests.unit.runner.checkpoints import llama, save

pytestmark = [
    pytest.mark.docker,
    pytest.mark.vllm,
    pytest.mark.skipif(not PYTHON.exists(), reason="no Python with vLLM: name one in AGENT2_VLLM_PYTHON"),
]


def test_a_checkpoint_is_graded(tmp_path: Path) -> None:
    checkpoint = save(tmp_path / "small", llama(hidden_size=128, num_attention_heads=2, num_key_value_heads=1))
    for path in checkpoint.iterdir():
        path.chmod(0o644)
    sandbox = host_python_image(tools=True, more=[PYTHON.parents[1]])
    settings = {"AGENT2_ENGINE": "vllm", "AGENT2_RUNNER_PYTHON": str(PYTHON), "AGENT2_GRADING_MEMORY_GB": "8"}
    asked = ["--task", "arithmetic", "--base-model", str(checkpoint), "--limit", "6"]
    done = subprocess.run(
        [sys.executable, "manage.py", "evaluate", *asked],
        cwd=ROOT, env=Platform(tmp_path / "data", settings | sandbox).environment,
        capture_output=True, text=True, check=False, timeout=800,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = dict(line.split(None, 1) for line in done.stdout.splitlines() if " " in line)
    verdict = json.loads(Path(told["verdict"]).read_text())
    assert (verdict["n_scored"], verdict["versions"]["engine"], verdict["versions"]["device"]) == (6, "vllm", "cpu")
    assert verdict["versions"]["vllm"]
    assert verdict["score"] is not None
