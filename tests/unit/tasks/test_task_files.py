"""Files of tasks: fetched from their public source, and still whole when they are graded with."""

import hashlib
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from benchmark.catalogue import task_get
from benchmark.sandbox.contract import Mount
from benchmark.services.task_data import LocalOrPublic, task_data
from benchmark.tasks.data_contract import DataUnavailable
from grading.runner.faults import InfraFault
from grading.runner.task_loading import checked_items, load_evaluator
from grading.services.sandbox_runner import _spec
from grading.services.work import Work

RIGHT = hashlib.sha256(b"right").hexdigest()


def test_a_file_that_came_wrong_is_fetched_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    comes = [b"wrong", b"right"]
    monkeypatch.setattr(LocalOrPublic, "_download", lambda _self, path, _url: path.write_bytes(comes.pop(0)))
    source = LocalOrPublic("t", tmp_path)
    with pytest.raises(DataUnavailable, match="has SHA-256"):
        source.file("f", sha256=RIGHT, url="https://example.org/f")
    assert source.file("f", sha256=RIGHT, url="https://example.org/f").read_bytes() == b"right"


def test_an_operators_wrong_file_is_left_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT2_TASK_T_DIR", str(tmp_path))
    (tmp_path / "f").write_bytes(b"wrong")
    with pytest.raises(DataUnavailable, match="has SHA-256"):
        LocalOrPublic("t", tmp_path / "cache").file("f", sha256=RIGHT, url="https://example.org/f")
    assert (tmp_path / "f").read_bytes() == b"wrong"


def test_an_evaluation_refuses_held_out_files_that_were_cut_short(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    task = task_get("arithmetic")
    held_out = task_data(task).held_out
    work = Work("w", "s", task, f"{task.protocol};limit=100", tmp_path, "transformers")
    folders = {"task": task.folder, "held_out": held_out}
    spec = _spec(work, {role: Mount(folder, PurePosixPath(folder)) for role, folder in folders.items()})
    evaluator = load_evaluator(task.folder, spec.protocol)
    assert len(checked_items(evaluator, spec)) == 100
    items = held_out / "items.jsonl"
    items.write_text("".join(items.read_text().splitlines(keepends=True)[:250]))
    with pytest.raises(InfraFault, match="I_HELD_OUT"):
        checked_items(evaluator, spec)
