"""Files of tasks that are fetched from their public source."""

import hashlib
from pathlib import Path

import pytest

from benchmark.services.task_data import LocalOrPublic
from benchmark.tasks.data_contract import DataUnavailable

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
