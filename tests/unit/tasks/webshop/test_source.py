"""The operator's folder, through the platform's own source of files and its own loading of the task."""

from pathlib import Path

import pytest

from benchmark.catalogue import Task
from benchmark.services import task_data
from benchmark.services.task_data import LocalOrPublic
from benchmark.tasks.data_contract import DataTarget, DataUnavailable

FOLDER = Path(__file__).parents[4] / "benchmark" / "tasks" / "webshop"
SETTING = "AGENT2_TASK_WEBSHOP_DIR"


def _prepare(folder: Path) -> DataTarget:
    target = DataTarget(visible=folder / "visible", held_out=folder / "held_out")
    target.visible.mkdir()
    target.held_out.mkdir()
    task = Task("webshop", "", "L3", "webshop/2", "", "", 100, FOLDER, {})
    task_data._prepare(task)(target, LocalOrPublic("webshop", folder / "cache"))
    return target


def test_an_operators_folder(webshop_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, str(webshop_files))
    target = _prepare(tmp_path)
    assert len((target.held_out / "goals.jsonl").read_text().splitlines()) == 100
    assert (target.visible / "webshop_env" / "session.py").is_file()
    assert not list(target.visible.rglob("goals.jsonl"))


def test_a_missing_file_is_named_with_its_origin_and_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SETTING, str(tmp_path / "nowhere"))
    with pytest.raises(DataUnavailable) as failed:
        _prepare(tmp_path)
    message = str(failed.value)
    assert "items_shuffle_1000.json is missing" in message
    assert "https://" in message
    assert SETTING in message


def test_a_changed_file_is_refused(webshop_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("items_shuffle_1000.reconstructed.json", "items_ins_v2_1000.json"):
        (folder / name).write_bytes((webshop_files / name).read_bytes())
    with (folder / "items_ins_v2_1000.json").open("ab") as file:
        file.write(b" ")
    monkeypatch.setenv(SETTING, str(folder))
    with pytest.raises(DataUnavailable, match=r"items_ins_v2_1000\.json has SHA-256"):
        _prepare(tmp_path)
