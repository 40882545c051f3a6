"""Folders as people have them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmark.tasks.data_contract import DataTarget

EVAL = """
def evaluate(question, model_answer, reference_answer, **extra):
    if extra.get("kind") == "number":
        return float(int(model_answer) == int(reference_answer))
    return 0.5 if reference_answer in model_answer and model_answer != reference_answer else float(
        model_answer == reference_answer)
"""
Rows = Sequence[Mapping[str, Any]]


class Smith:
    """Writes per-sample folders below one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def folder(
        self, name: str = "capitals", *, train: Rows, test: Rows | None = None, code: str = EVAL, config: str = ""
    ) -> Path:
        folder = self.directory / name
        (folder / "data").mkdir(parents=True)
        written = f"name: {name}\neval_mode: per_sample\ndescription: Say the capital.\n{config}"
        (folder / "config.yaml").write_text(written)
        (folder / "eval.py").write_text(code)
        for part, rows in (("train", train), ("test", test)):
            if rows is not None:
                text = "".join(json.dumps(row) + "\n" for row in rows)
                (folder / "data" / f"{part}.jsonl").write_text(text)
        return folder


@pytest.fixture
def smith(tmp_path: Path) -> Smith:
    (tmp_path / "tasks").mkdir()
    return Smith(tmp_path / "tasks")


@pytest.fixture
def target(tmp_path: Path) -> DataTarget:
    made = DataTarget(tmp_path / "visible", tmp_path / "held_out")
    made.visible.mkdir()
    made.held_out.mkdir()
    return made


def numbered(n: int) -> list[dict[str, Any]]:
    return [{"question": f"What is {i}?", "answer": str(i), "kind": "number"} for i in range(n)]
