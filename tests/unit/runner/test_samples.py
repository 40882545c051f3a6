"""Samples survive a kill; a torn line and another spec's samples do not."""

import hashlib
import json
from pathlib import Path

import pytest

from benchmark.tasks.contract import Record
from grading.runner.samples import SampleStore


def record(name: str, text: str = "5") -> Record:
    return Record(name, "00", (text,), text, 1.0, 3, "stop", {"note": "a\u2028b\nc"})


def test_a_restart_keeps_what_was_written(tmp_path: Path) -> None:
    first = SampleStore(tmp_path, "same")
    first.add(record("b"))
    first.add(record("a"))
    again = SampleStore(tmp_path, "same")
    assert again.records == {"b": record("b"), "a": record("a")}


@pytest.mark.parametrize(
    "torn", [b'{"item_id": "c", "outp', b'{"item_id": "c"}', b"\xff\xfe", b'{"item_id": "c"}\n', b"\0\0\n"]
)
def test_a_torn_end_is_dropped(torn: bytes, tmp_path: Path) -> None:
    SampleStore(tmp_path, "same").add(record("a"))
    path = tmp_path / "samples.jsonl"
    path.write_bytes(path.read_bytes() + torn)
    again = SampleStore(tmp_path, "same")
    again.add(record("c"))
    again.close()
    assert [json.loads(line)["item_id"] for line in path.read_text().splitlines()] == ["a", "c"]


@pytest.mark.parametrize("state", [None, "{", "[]", '{"digest": "other"}'])
def test_samples_of_another_spec_are_thrown_away(state: str | None, tmp_path: Path) -> None:
    SampleStore(tmp_path, "same").add(record("a"))
    if state is None:
        (tmp_path / "state.json").unlink()
    else:
        (tmp_path / "state.json").write_text(state)
    assert SampleStore(tmp_path, "same").records == {}
    assert (tmp_path / "samples.jsonl").read_bytes() == b""


def test_the_finished_file_does_not_depend_on_the_order_of_playing(tmp_path: Path) -> None:
    digests = set()
    for order in ("abc", "cab"):
        folder = tmp_path / order
        folder.mkdir()
        store = SampleStore(folder, "same")
        for name in order:
            store.add(record(name))
        records, digest = store.finish(["a", "b", "c"])
        assert [r.item_id for r in records] == ["a", "b", "c"]
        assert digest == hashlib.sha256((folder / "samples.jsonl").read_bytes()).hexdigest()
        digests.add(digest)
    assert len(digests) == 1


def test_finish_leaves_out_what_is_not_asked_for(tmp_path: Path) -> None:
    store = SampleStore(tmp_path, "same")
    store.add(record("a"))
    store.add(record("z"))
    assert store.finish(["a", "b"])[0] == [record("a")]
