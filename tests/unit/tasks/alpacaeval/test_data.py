"""What is visible, what is held out, and what is said when a source is missing."""

import csv
import json
from pathlib import Path

import pytest

from benchmark.tasks.alpacaeval import data
from benchmark.tasks.data_contract import DataTarget, DataUnavailable
from tests.unit.tasks.sources import LocalSource


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def empty(tmp_path: Path) -> DataTarget:
    target = DataTarget(tmp_path / "visible", tmp_path / "held_out")
    target.visible.mkdir()
    target.held_out.mkdir()
    return target


def test_805_instructions_are_held_out_and_none_is_visible(target: DataTarget) -> None:
    held = rows(target.held_out / "instructions.jsonl")
    assert len(held) == 805
    assert all(set(row) == {"instruction", "output", "difficulty"} for row in held)
    examples = rows(target.visible / "examples.jsonl")
    assert len(examples) == 12
    assert not {row["instruction"] for row in examples} & {row["instruction"] for row in held}
    seen = "".join(file.read_text(encoding="utf-8") for file in target.visible.iterdir())
    told = json.dumps([row["instruction"] for row in held])
    assert not [row for row in held if str(row["instruction"]) in seen], told[:200]


def test_stand_ins_are_told(target: DataTarget) -> None:
    sources = json.loads((target.held_out / "sources.json").read_text())
    assert sources["stand_ins"] == list(data.STAND_INS.values())
    assert sources["sha256"][data.BASELINE] == data.SHA256[data.BASELINE]
    assert len(rows(target.held_out / "gamed.jsonl")) == 1610


@pytest.mark.parametrize("name", list(data.SHA256))
def test_a_missing_file_is_named_with_its_origin(sources: Path, empty: DataTarget, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "sources"
    folder.mkdir()
    for file in sources.iterdir():
        if file.name not in (name, data.STAND_INS.get(name)):
            (folder / file.name).symlink_to(file.resolve())
    with pytest.raises(DataUnavailable, match=rf"{name} is missing.*{data.REVISION}/{name}") as told:
        data.prepare(empty, LocalSource(folder))
    if name in data.STAND_INS:
        assert data.STAND_INS[name] in str(told.value)


def test_a_stand_in_that_lacks_rows_is_refused(sources: Path, empty: DataTarget, tmp_path: Path) -> None:
    folder = tmp_path / "sources"
    folder.mkdir()
    for file in sources.iterdir():
        (folder / file.name).symlink_to(file.resolve())
    short = folder / data.STAND_INS[data.DIFFICULTY]
    short.unlink()
    with short.open("w", newline="") as handle:
        csv.writer(handle).writerows([["index", "instruction_difficulty"], [0, 1.5]])
    with pytest.raises(DataUnavailable, match="each of 805 instructions"):
        data.prepare(empty, LocalSource(folder))
