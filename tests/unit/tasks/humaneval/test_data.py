"""The split, and what of it anybody may see."""

import gzip
import json
from pathlib import Path

import pytest

from benchmark.tasks.data_contract import DataTarget, DataUnavailable
from benchmark.tasks.humaneval.data import SHA256, URL, prepare, read_rows
from benchmark.tasks.humaneval.evaluator import evaluator


class Folder:
    """A `DataSource` that notes what is asked of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[tuple[str, str | None, str]] = []

    def file(self, name: str, *, sha256: str | None, url: str) -> Path:
        self.asked.append((name, sha256, url))
        return self.folder / name


@pytest.fixture
def target(tmp_path: Path) -> DataTarget:
    made = DataTarget(tmp_path / "visible", tmp_path / "held_out")
    made.visible.mkdir()
    made.held_out.mkdir()
    return made


def test_split(shared_data: Path, target: DataTarget) -> None:
    source = Folder(shared_data / "humaneval")
    prepare(target, source)
    assert source.asked == [("HumanEval.jsonl.gz", SHA256, URL)]
    assert [path.name for path in target.visible.iterdir()] == ["train.jsonl"]
    rows = [json.loads(line) for line in (target.visible / "train.jsonl").read_text().splitlines()]
    assert [row["task_id"] for row in rows] == [f"HumanEval/{number}" for number in range(82)]
    assert all(row["canonical_solution"] and row["test"] for row in rows)
    items = evaluator().items(target.held_out)
    assert [item.id for item in items] == [f"HumanEval/{number}" for number in range(82, 164)]


def test_no_held_out_problem_is_visible(shared_data: Path, target: DataTarget) -> None:
    prepare(target, Folder(shared_data / "humaneval"))
    visible = (target.visible / "train.jsonl").read_text()
    items = evaluator().items(target.held_out)
    assert not [item.id for item in items if json.dumps(item.payload["prompt"]) in visible]
    assert not [
        item.id for item in items if item.payload["entry_point"] in json.dumps(visible).split('"entry_point"')[1:]
    ]


def test_held_out_solutions_are_nowhere(shared_data: Path, target: DataTarget, problems: list[dict[str, str]]) -> None:
    prepare(target, Folder(shared_data / "humaneval"))
    written = "".join(path.read_text() for folder in (target.visible, target.held_out) for path in folder.iterdir())
    assert not [row["task_id"] for row in problems[82:] if json.dumps(row["canonical_solution"])[1:-1] in written]


def test_another_order_is_refused(tmp_path: Path, problems: list[dict[str, str]]) -> None:
    path = tmp_path / "HumanEval.jsonl.gz"
    with gzip.open(path, "wt") as out:
        out.writelines(json.dumps(row) + "\n" for row in reversed(problems))
    with pytest.raises(DataUnavailable, match="in order"):
        read_rows(path)
