"""The stand-alone runner grades a folder without code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.tasks.data_contract import DataTarget
from benchmark.tasks.folder_task import recipe_of
from tests.support.checkpoint import small_checkpoint
from tests.unit.tasks.folder.conftest import Smith, numbered

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.slow
def test_a_checkpoint_is_graded(smith: Smith, target: DataTarget, tmp_path: Path) -> None:
    code = "def evaluate(question, model_answer, reference_answer, **extra):\n    return 0.25\n"
    folder = smith.folder(train=numbered(6), code=code, config="max_tokens: 8\n")
    recipe = recipe_of(folder)
    recipe.prepare(target)
    checkpoint = str(small_checkpoint(tmp_path / "checkpoint"))
    spec = {"protocol": recipe.about["protocol"], "task_dir": str(folder), "held_out": str(target.held_out)}
    spec |= {"checkpoint": checkpoint, "reference": checkpoint}
    (tmp_path / "spec.json").write_text(json.dumps({**spec, "threads": 1}))
    command = [sys.executable, "-m", "grading.runner", str(tmp_path / "spec.json"), str(tmp_path / "out")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=240)
    verdict = json.loads((tmp_path / "out" / "verdict.json").read_text())
    assert (verdict["score"], verdict["n_scored"], verdict["finding"]) == (25.0, 3, None), verdict
