"""What is laid out for whom, and what happens when a file is missing."""

import hashlib
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.tasks.data_contract import DataTarget, DataUnavailable
from benchmark.tasks.webshop import data
from benchmark.tasks.webshop.making import TITLE_NOUNS, request_of
from benchmark.tasks.webshop.webshop_env import read_goals
from benchmark.tasks.webshop.webshop_env.catalogue import read_products

from .conftest import FolderSource


def test_no_held_out_request_is_visible(prepared: DataTarget) -> None:
    held_out = read_goals(prepared.held_out / "goals.jsonl")
    visible = [file.read_bytes() for file in prepared.visible.rglob("*") if file.is_file()]
    assert len(visible) > 15
    for goal in held_out:
        for text in (goal.instruction, json.dumps(goal.instruction)[1:-1]):
            assert not any(text.encode() in content for content in visible), goal.id


def test_train_goals(prepared: DataTarget) -> None:
    train = read_goals(prepared.visible / "train_goals.jsonl")
    held_out = read_goals(prepared.held_out / "goals.jsonl")
    assert (len(train), len(held_out)) == (1500, 100)
    assert len({goal.id for goal in train + held_out}) == 1600
    assert not {request_of(goal) for goal in train} & {request_of(goal) for goal in held_out}
    assert len({goal.asin for goal in train} & {goal.asin for goal in held_out}) > 40, "products overlap, as documented"


def test_what_train_goals_leave_out_does_not_tell_what_is_held_out(prepared: DataTarget) -> None:
    """Of the choices of options that no train goal has, few are held out, even among the held-out goals' products."""
    train = read_goals(prepared.visible / "train_goals.jsonl")
    held_out = read_goals(prepared.held_out / "goals.jsonl")
    options = {product.asin: product.options for product in read_products(prepared.held_out / "products.jsonl")}
    asins = {goal.asin for goal in held_out}
    choices = sum(math.prod(len(values) for values in options[asin].values()) for asin in asins)
    shown = sum(goal.asin in asins for goal in train)
    assert len(held_out) < 0.05 * (choices - shown)


def test_both_folders_have_the_same_shop(prepared: DataTarget) -> None:
    for name in ("products.jsonl", "sources.json"):
        assert (prepared.visible / name).read_bytes() == (prepared.held_out / name).read_bytes()
    digests = json.loads((prepared.held_out / "sources.json").read_text())
    assert digests["items_ins_v2_1000.json"] == "f88a36314a397b53b3d9c3fa5878e5f7b26d35019a51ec83fbedeca61a948f6f"
    assert len(digests) == 2


def test_the_same_again(prepared: DataTarget, webshop_files: Path, tmp_path: Path) -> None:
    again = DataTarget(visible=tmp_path / "visible", held_out=tmp_path / "held_out")
    again.visible.mkdir()
    again.held_out.mkdir()
    data.prepare(again, FolderSource(webshop_files))
    for one, other in ((prepared.visible, again.visible), (prepared.held_out, again.held_out)):
        assert _hashes(one) == _hashes(other)


def test_the_first_missing_file_is_named(tmp_path: Path, webshop_files: Path) -> None:
    source = FolderSource(tmp_path / "empty")
    with pytest.raises(DataUnavailable, match=r"items_shuffle_1000\.json is missing\. It comes from https://"):
        data.prepare(DataTarget(tmp_path, tmp_path), source)
    source.folder.mkdir()
    rebuilt = "items_shuffle_1000.reconstructed.json"
    (source.folder / rebuilt).symlink_to(webshop_files / rebuilt)
    with pytest.raises(DataUnavailable, match=r"items_ins_v2_1000\.json is missing\. It comes from https://"):
        data.prepare(DataTarget(tmp_path, tmp_path), source)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    for name in ("items_shuffle_1000.json", "items_ins_v2_1000.json"):
        (tmp_path / name).write_text('[{"asin": "B000000001"}]')
    with pytest.raises(DataUnavailable, match="cannot be read"):
        data.prepare(DataTarget(tmp_path, tmp_path), FolderSource(tmp_path))


def test_nouns_are_listed_for_every_product(prepared: DataTarget) -> None:
    rows = (prepared.held_out / "products.jsonl").read_text(encoding="utf-8").splitlines()
    listed = TITLE_NOUNS.read_text(encoding="utf-8").splitlines()
    assert [json.loads(row)["asin"] for row in rows] == [line.partition("\t")[0] for line in listed]


def test_the_guide_program_collects_trajectories(prepared: DataTarget, tmp_path: Path) -> None:
    """As an agent runs it: only its `data` folder, none of the platform's code."""
    out = tmp_path / "trajectories.jsonl"
    command = [sys.executable, "-I", str(prepared.visible / "collect.py"), "--goals", "5", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 5
    assert all(0 <= row["reward"] <= 1 and row["messages"][0]["role"] == "system" for row in rows)
    assert {row["messages"][-1]["content"] for row in rows} == {"click[buy now]"}


def _hashes(folder: Path) -> dict[str, str]:
    files = [file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
