"""The data of `arithmetic`: two sides with nothing in common, the same every time."""

import hashlib
import json
from pathlib import Path

import pytest

from benchmark.tasks.arithmetic import data
from benchmark.tasks.data_contract import DataTarget


def prepared(folder: Path) -> DataTarget:
    target = DataTarget(folder / "visible", folder / "held_out")
    target.visible.mkdir(parents=True)
    target.held_out.mkdir()
    data.prepare(target)
    return target


def rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def terms(question: str) -> tuple[int, ...]:
    return tuple(sorted(int(term) for term in question.removesuffix("=").split("+")))


def test_no_held_out_sum_is_visible_in_either_order(tmp_path: Path) -> None:
    target = prepared(tmp_path)
    visible = {terms(row["question"]) for row in rows(target.visible / "train.jsonl")}
    held_out = {terms(row["question"]) for row in rows(target.held_out / "items.jsonl")}
    assert len(held_out) == 500
    assert not visible & held_out


def test_counts_answers_and_ids(tmp_path: Path) -> None:
    target = prepared(tmp_path)
    visible, held_out = rows(target.visible / "train.jsonl"), rows(target.held_out / "items.jsonl")
    assert (len(visible), len({row["question"] for row in visible})) == (1500, 1500)
    assert len({row["id"] for row in held_out}) == 500
    assert all(str(sum(terms(row["question"]))) == row["answer"] for row in [*visible, *held_out])
    assert all(10 <= term <= 99 for row in [*visible, *held_out] for term in terms(row["question"]))


def test_only_the_visible_file_is_visible(tmp_path: Path) -> None:
    assert [path.name for path in prepared(tmp_path).visible.iterdir()] == ["train.jsonl"]


def test_the_data_is_the_same_on_every_machine(tmp_path: Path) -> None:
    target = prepared(tmp_path)
    digest = hashlib.sha256(
        (target.visible / "train.jsonl").read_bytes() + (target.held_out / "items.jsonl").read_bytes()
    ).hexdigest()
    assert digest == "36b0dfe0f992d72ed08eb8e2c618d812a546aace3b56f146db79cce296469740"


def test_what_a_base_model_may_see_holds_nothing_held_out() -> None:
    assert not data.overlap(data.open_sums(), data.held_out_sums())
    assert len(data.open_sums()) + 2 * 500 - len([1 for a, b in data.partition()[0] if a == b]) == 90 * 90


def test_an_overlap_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = data.held_out_sums()[0]
    monkeypatch.setattr(data, "visible_sums", lambda: [(first[1], first[0])])
    with pytest.raises(ValueError, match="1 held-out problems are visible"):
        prepared(tmp_path)
    assert not list((tmp_path / "visible").iterdir())
