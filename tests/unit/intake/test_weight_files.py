"""How weights are stored: entries 8 to 11, and files that only look like safetensors."""

import json
import shutil
from pathlib import Path

import pytest

from grading.contract import Finding
from tests.unit.intake.conftest import Bench
from tests.unit.intake.edits import edit_weights, raw_safetensors

INDEX = "model.safetensors.index.json"


def only(bench: Bench) -> Finding:
    report = bench.take()
    assert len(report.findings) == 1
    return report.findings[0]


def edit_map(folder: Path, **changes: str | None) -> None:
    index = json.loads((folder / INDEX).read_text())
    for key, shard in changes.items():
        name = key.replace("__", ".")
        if shard is None:
            del index["weight_map"][name]
        else:
            index["weight_map"][name] = shard
    (folder / INDEX).write_text(json.dumps(index))


def shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("model-*.safetensors"))


def test_8_a_missing_shard_is_named(bench: Bench) -> None:
    gone = shards(bench.put("sharded"))[1]
    gone.unlink()
    found = only(bench)
    assert found.code == "E_SHARD_MISSING"
    assert found.detail["missing"] == [gone.name]
    assert gone.name in found.message


def test_8_shards_without_their_index(bench: Bench) -> None:
    (bench.put("sharded") / INDEX).unlink()
    assert only(bench).code == "E_SHARD_MISSING"


def test_9_a_single_file_beside_older_shards(bench: Bench) -> None:
    folder = bench.put("sharded")
    shutil.copy(bench.made / "trained/model.safetensors", folder)
    found = only(bench)
    assert found.code == "E_SHARD_AMBIGUOUS"
    assert INDEX in found.message


def test_9_shards_beside_a_single_file_without_index(bench: Bench) -> None:
    folder = bench.put()
    shutil.copy(shards(bench.made / "sharded")[0], folder)
    assert only(bench).code == "E_SHARD_AMBIGUOUS"


def test_9_a_shard_that_the_index_does_not_name(bench: Bench) -> None:
    folder = bench.put("sharded")
    shutil.copy(shards(folder)[0], folder / "model-00009-of-00009.safetensors")
    found = only(bench)
    assert found.code == "E_SHARD_AMBIGUOUS"
    assert "model-00009-of-00009.safetensors" in found.message


def test_9_an_index_that_gives_a_tensor_to_another_shard(bench: Bench) -> None:
    folder = bench.put("sharded")
    last = shards(folder)[-1].name
    edit_map(folder, model__embed_tokens__weight=last)
    found = only(bench)
    assert found.code == "E_SHARD_AMBIGUOUS"
    assert found.detail["tensor"] == "model.embed_tokens.weight"
    assert found.detail["expected"] == last


@pytest.mark.parametrize("shard", [None, "model-00001-of-00001.safetensors"])
def test_9_an_index_with_a_tensor_too_few_or_too_many(bench: Bench, shard: str | None) -> None:
    folder = bench.put("sharded")
    if shard is None:
        edit_map(folder, model__norm__weight=None)
    else:
        edit_map(folder, model__extra__weight=shards(folder)[0].name)
    assert only(bench).code == "E_SHARD_AMBIGUOUS"


def test_9_one_tensor_in_two_shards(bench: Bench) -> None:
    import torch

    folder = bench.put("sharded")
    for file in shards(folder)[:2]:
        edit_weights(folder, lambda state: {**state, "model.norm.weight": torch.ones(32)}, file.name)
    assert "stored more than once" in " ".join(each.message for each in bench.take().findings)
    assert set(bench.codes()) == {"E_SHARD_AMBIGUOUS"}


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "sub/x.safetensors", "..", 7, None, "\0", "x.bin"])
def test_an_index_that_names_something_else_than_a_shard(bench: Bench, name: object) -> None:
    folder = bench.put("sharded")
    (folder / INDEX).write_text(json.dumps({"weight_map": {"model.norm.weight": name}}))
    assert only(bench).code == "E_PATH"


@pytest.mark.parametrize("text", ["", "[]", "{", "{}", '{"weight_map": []}', '{"weight_map": {}}'])
def test_an_index_that_is_none(bench: Bench, text: str) -> None:
    (bench.put("sharded") / INDEX).write_text(text)
    assert only(bench).code == "E_CONFIG_JSON"


@pytest.mark.parametrize("size", [0, 4, 8, 100, -1, -1000])
def test_10_a_file_cut_off(bench: Bench, size: int) -> None:
    file = bench.put() / "model.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[:size])
    found = only(bench)
    assert found.code == "E_TRUNCATED"
    assert f"needs {found.detail['expected']} bytes, has {file.stat().st_size}" in found.message
    if size < 0:
        assert found.detail["expected"] == len(whole)


def test_10_bytes_that_belong_to_no_tensor(bench: Bench) -> None:
    file = bench.put() / "model.safetensors"
    size = file.stat().st_size
    with file.open("ab") as out:
        out.write(b"\0" * 16)
    found = only(bench)
    assert found.code == "E_TRUNCATED"
    assert f"needs {size} bytes, has {size + 16}" in found.message


def test_10_several_broken_shards_are_all_named(bench: Bench) -> None:
    files = shards(bench.put("sharded"))
    for file in files[:2]:
        file.write_bytes(file.read_bytes()[:-2])
    report = bench.take()
    assert [(each.code, each.detail["file"]) for each in report.findings] == [
        ("E_TRUNCATED", file.name) for file in files[:2]
    ]


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "config.json"])
def test_11_a_git_lfs_pointer(bench: Bench, file: str) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 269060552\n"
    (bench.put() / file).write_text(pointer)
    found = only(bench)
    assert found.code == "E_LFS_POINTER"
    assert found.detail["file"] == file


T = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"{",
        b'{"a":' * 3000 + b"1" + b"}" * 3000,
        b"[" * 100_000,
        b'{"a": ' + json.dumps(T).encode() + b', "a": ' + json.dumps(T).encode() + b"}",
        b'{"a": {"dtype": "F32", "dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}',
        b'{"a": {"dtype": "F32", "shape": [' + b"9" * 5000 + b'], "data_offsets": [0, 8]}}',
        b'\xff\xfe{"a": 1}',
        {"a": 1},
        {"a": {}},
        {"a": {**T, "more": 1}},
        {"__metadata__": 1, "a": T},
        {"__metadata__": {"format": 1}, "a": T},
        {"a": {**T, "dtype": "Q4_K"}},
        {"a": {**T, "dtype": ["F32"]}},
        {"a": {**T, "shape": [-2]}},
        {"a": {**T, "shape": [2.0]}},
        {"a": {**T, "shape": [True, 2]}},
        {"a": {**T, "shape": "2"}},
        {"a": {**T, "shape": [1 << 40, 1 << 40]}},
        {"a": {**T, "shape": [1 << 70]}},
        {"a": {**T, "shape": [1] * 9 + [2]}},
        {"a": {**T, "data_offsets": [8, 0]}},
        {"a": {**T, "data_offsets": [-8, 0]}},
        {"a": {**T, "data_offsets": [0, 8, 16]}},
        {"a": {**T, "data_offsets": [0, 1 << 80]}},
        {"a": {**T, "data_offsets": [0, 4]}},
        {"a": {**T, "data_offsets": [4, 12]}},
        {"a": T, "b": T},
        {"a": T, "b": {**T, "data_offsets": [4, 12]}},
        {"a": T, "b": {**T, "data_offsets": [16, 24]}},
        {"": T},
        {"a\nb": T},
        {"\ud800": T},
        {"a" * 600: T},
    ],
)
def test_headers_that_break_the_format(bench: Bench, header: dict[str, object] | bytes) -> None:
    (bench.put() / "model.safetensors").write_bytes(raw_safetensors(header, b"\0" * 8))
    found = only(bench)
    assert found.code == "E_SAFETENSORS"
    assert found.message.isprintable()
    assert len(found.message) < 500


def test_a_header_that_claims_to_be_huge_is_not_read(bench: Bench) -> None:
    file = bench.put() / "model.safetensors"
    with file.open("wb") as out:
        out.write((100 << 20).to_bytes(8, "little"))
        out.truncate(101 << 20)
    assert only(bench).code == "E_SAFETENSORS"


def test_the_format_itself_agrees_on_what_is_valid(bench: Bench) -> None:
    """The safetensors library reads what passes here: the strictness is not our invention."""
    from safetensors import SafetensorError, safe_open

    file = bench.put() / "model.safetensors"
    with safe_open(file, "np") as opened:
        assert set(opened.keys()) == set(bench.base.tensors)
    file.write_bytes(raw_safetensors({"a": T, "b": {**T, "data_offsets": [16, 24]}}, b"\0" * 24))
    with pytest.raises(SafetensorError), safe_open(file, "np"):
        pass
    assert only(bench).code == "E_SAFETENSORS"
