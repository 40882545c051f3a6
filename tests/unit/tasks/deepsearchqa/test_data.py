"""The split, and the data that is laid out from the published file."""

import csv
import json
from pathlib import Path

import numpy
import pytest
import yaml

from benchmark.tasks.data_contract import DataTarget, DataUnavailable
from benchmark.tasks.deepsearchqa import data
from benchmark.tasks.deepsearchqa.evaluator import DeepSearchQA
from tests.unit.tasks.sources import LocalSource

SPLIT = json.loads(data.SPLIT.read_text())


class Unchecked:
    """A `DataSource` that has one file, whatever its digest."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def file(self, name: str, *, sha256: str | None, url: str) -> Path:
        return self.path


def published(path: Path, rows: int = data.ROWS, **changes: str) -> Path:
    """A file in the published form with rows of our own; row 900 - n asks the same as row n."""
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, data.COLUMNS)
        writer.writeheader()
        for n in range(rows):
            row = {"problem": f"Question, {n}?\nReally?", "problem_category": "Other", "answer": f"A{n}"}
            writer.writerow({**row, "answer_type": data.KINDS[n % 2], **changes})
    return path


@pytest.fixture
def target(tmp_path: Path) -> DataTarget:
    target = DataTarget(tmp_path / "visible", tmp_path / "held_out")
    target.visible.mkdir()
    target.held_out.mkdir()
    return target


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_split_is_numpys_permutation() -> None:
    order = numpy.random.default_rng(42).permutation(900).tolist()
    assert (SPLIT["visible"], SPLIT["held_out"]) == (order[:100], order[100:300])


def test_the_split_is_the_references(shared_data: Path) -> None:
    reference = json.loads((shared_data / "deepsearchqa" / "reference_split_indices.json").read_text())
    assert (SPLIT["visible"], SPLIT["held_out"]) == (reference["train"], reference["eval"])


def test_the_layout(target: DataTarget, tmp_path: Path) -> None:
    data.prepare(target, Unchecked(published(tmp_path / data.NAME)))
    visible, held_out = lines(target.visible / "train.jsonl"), lines(target.held_out / "questions.jsonl")
    assert [row["id"] for row in visible] == [f"row-{n:03d}" for n in SPLIT["visible"]]
    assert [row["problem"] for row in held_out] == [f"Question, {n}?\nReally?" for n in SPLIT["held_out"]]
    everything = "".join(path.read_text() for path in target.visible.iterdir())
    assert not any(json.dumps(row["problem"]) in everything for row in held_out)
    assert {path.name for path in target.visible.iterdir()} == {"train.jsonl", "react.py", "README.md"}
    items = DeepSearchQA().items(target.held_out)
    about = yaml.safe_load((data.FOLDER / "task.yaml").read_text())
    assert len(items) == about["eval_size"] == 200
    assert items[0].payload["answer_type"] in data.KINDS
    assert about["protocol"] == DeepSearchQA.protocol


def test_a_question_on_both_sides_is_held_out_only(target: DataTarget, tmp_path: Path) -> None:
    data.prepare(target, Unchecked(published(tmp_path / data.NAME, problem="The same?")))
    assert lines(target.visible / "train.jsonl") == []
    assert len(lines(target.held_out / "questions.jsonl")) == 200


def test_kaggles_file_will_do(target: DataTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its further column is passed over; its digest is asked for after the first one."""
    path = published(tmp_path / data.NAME)
    rows = path.read_text(encoding="utf-8-sig").split("\n", 1)
    path.write_text(f"example_id,{rows[0]}\n" + "\n".join(rows[1:]).replace('"Question', '7,"Question'))
    import hashlib

    monkeypatch.setattr(data, "KAGGLE_SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    data.prepare(target, LocalSource(tmp_path))
    assert len(lines(target.held_out / "questions.jsonl")) == 200


def test_another_file_is_refused(target: DataTarget, tmp_path: Path) -> None:
    published(tmp_path / data.NAME)
    with pytest.raises(DataUnavailable, match="huggingface"):
        data.prepare(target, LocalSource(tmp_path))


@pytest.mark.parametrize("changes", [{"rows": 899}, {"answer": " "}, {"problem": ""}, {"answer_type": "Essay"}])
def test_rows_that_lack_something_are_refused(target: DataTarget, tmp_path: Path, changes: dict[str, str]) -> None:
    with pytest.raises(DataUnavailable, match="row"):
        data.prepare(target, Unchecked(published(tmp_path / data.NAME, **changes)))  # type: ignore[arg-type]


def test_the_digests_are_those_stated(shared_data: Path) -> None:
    stated = json.loads((shared_data / "deepsearchqa" / "SOURCES.json").read_text())
    assert (stated["official"]["sha256"], stated["official"]["revision"]) == (data.SHA256, data.REVISION)
    assert stated["kaggle_v4"]["sha256"] == data.KAGGLE_SHA256
    assert stated["official"]["columns"] == list(data.COLUMNS)
