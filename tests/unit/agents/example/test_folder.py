"""The example agent as a folder: its configuration, its recipes, its notes, and that it stands alone."""

import ast
import json
import subprocess
from pathlib import Path

import pytest
import yaml

from benchmark.agents.example import journal, recipes

FOLDER = Path(recipes.__file__).parent


def test_configuration() -> None:
    about = yaml.safe_load((FOLDER / "config.yaml").read_text(encoding="utf-8"))
    assert about["drivers"] == ["none"]
    assert about["needs"] == {"hosts": [], "keys": []}
    assert about["name"] == FOLDER.name


def test_start_sh_is_correct_bash_and_executable() -> None:
    script = FOLDER / "start.sh"
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
    assert script.stat().st_mode & 0o111


def test_it_imports_nothing_of_the_platform() -> None:
    rooms = {"benchmark", "grading", "traces", "bundles", "frontend", "config"}
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            assert not {name.split(".")[0] for name in names} & rooms, path


@pytest.mark.parametrize("task", ["arithmetic", "gsm8k"])
def test_batches_divide(task: str) -> None:
    for gpu in (False, True):
        recipe = recipes.recipe_for(task, gpu=gpu)
        answers = recipe.grpo_prompts * recipe.grpo_group
        assert answers % min(answers, recipe.micro_batch) == 0
        assert recipe.sft_batch % min(recipe.sft_batch, recipe.micro_batch) == 0
        assert min(answers, recipe.micro_batch) % recipe.grpo_group == 0


def test_one_number_can_be_overridden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECIPE", json.dumps({"grpo_learning_rate": 2e-3}))
    changed = recipes.recipe_for("arithmetic", gpu=False)
    monkeypatch.delenv("RECIPE")
    usual = recipes.recipe_for("arithmetic", gpu=False)
    assert changed.grpo_learning_rate == 2e-3
    assert changed.grpo_steps == usual.grpo_steps


def test_the_summary_keeps_what_was_not_scored_apart(tmp_path: Path) -> None:
    summary = journal.Summary(tmp_path / "summary.md", task="arithmetic", model="tiny", mode="free")
    summary.add(journal.Entry("v1", "SFT", {"score": None, "error": "No weights.", "baseline_score": 10.0}))
    assert "Best:" not in (tmp_path / "summary.md").read_text(encoding="utf-8")
    summary.add(journal.Entry("v2", "GRPO", {"score": 0.0, "improvement": -10.0, "baseline_score": 10.0}))
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "| v1 | SFT | not scored: No weights. | |" in text
    assert "| v2 | GRPO | 0.00 | -10.00 |" in text
    assert "Best: v2 with 0.00." in text
