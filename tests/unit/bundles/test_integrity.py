"""Held-out items among a run's files, and weights near to known models. What is innocent is not named."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from bundles.dialects.facts import RunFacts
from bundles.format.tree import Tree
from bundles.integrity.evidence import Sources, evidence_find
from bundles.integrity.items import items_of
from bundles.integrity.overlap import index_of, overlap_in
from bundles.integrity.weights import nearest_models
from bundles.rules.findings import Finding

WORDS = [f"word{number}" for number in range(400)]


def sentence(seed: int, length: int = 40) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=length))


def row(seed: int) -> dict[str, str]:
    return {"question": sentence(seed), "answer": f"#### {seed}"}


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    """100 held-out items; the first of the visible ones shares its text with held-out item 99."""
    for name, seeds in (("held_out", range(100)), ("visible", range(99, 200))):
        (tmp_path / name).mkdir()
        lines = "".join(json.dumps(row(seed)) + "\n" for seed in seeds)
        (tmp_path / name / "items.jsonl").write_text(lines)
    return Sources(held_out=tmp_path / "held_out", visible=tmp_path / "visible")


def evidence(folder: Path, sources: Sources, files: dict[str, str]) -> list[Finding]:
    run = RunFacts("workspace", task="gsm8k")
    for name, text in files.items():
        path = folder / "run" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if name.startswith("code/"):
            run.code.setdefault(0, {})[name[5:]] = name
    return evidence_find(Tree(folder / "run"), run, sources)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"messages": [{"role": "user", "content": sentence(7)}]}),
        f'data = """{sentence(7).upper()}."""',
        "x = 1\n" * 20_000 + sentence(7).replace(" ", ",\n  "),
        "pad " * 400_000 + sentence(7),
    ],
    ids=["json", "code", "lines", "edge"],
)
def test_a_copied_item_is_found(tmp_path: Path, sources: Sources, text: str) -> None:
    found = evidence(tmp_path, sources, {"code/train.py": text})
    assert [each.code for each in found] == ["held_out_overlap"]
    assert found[0].severity == "warning"
    assert found[0].category == "Integrity"
    assert found[0].text.startswith("1 of 99 held-out items")
    assert found[0].place.startswith("code/train.py, line ")


def test_many_items_in_training_data(tmp_path: Path, sources: Sources) -> None:
    data = "".join(json.dumps(row(seed)) + "\n" for seed in range(20, 60))
    found = evidence(tmp_path, sources, {"more/data.jsonl": data, "code/a.py": "print()"})
    assert found[0].text.startswith("40 of 99 held-out items")
    assert "40 of them to the last" in found[0].text


def test_half_an_item_counts_and_less_does_not(tmp_path: Path, sources: Sources) -> None:
    words = sentence(7).split()
    assert evidence(tmp_path, sources, {"code/half.py": " ".join(words[:30])})
    assert not evidence(tmp_path / "b", sources, {"code/less.py": " ".join(words[:20])})


def test_what_is_innocent(tmp_path: Path, sources: Sources) -> None:
    data = "".join(json.dumps(row(seed)) + "\n" for seed in range(99, 200))
    assert not evidence(tmp_path, sources, {"code/train.py": data, "code/other.py": sentence(5000, 3000)})
    assert not evidence(tmp_path, Sources(), {"code/train.py": sentence(7)})


def test_transcripts_are_not_training_data(tmp_path: Path, sources: Sources) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "agent.jsonl").write_text(sentence(7))
    run = RunFacts("workspace", task="gsm8k", transcripts=["agent.jsonl"])
    assert not evidence_find(Tree(tmp_path / "run"), run, sources)


def test_short_items_are_left_alone() -> None:
    assert index_of([["one two three"], ["a b c d e f g h"]]).items == 1


def test_real_gsm8k(tmp_path: Path, shared_data: Path) -> None:
    held_out, visible = tmp_path / "held_out", tmp_path / "visible"
    for folder, name in ((held_out, "test.jsonl"), (visible, "train.jsonl")):
        folder.mkdir()
        shutil.copyfile(shared_data / "gsm8k" / name, folder / name)
    index = index_of(items_of(held_out), items_of(visible))
    assert index.items >= 1300
    with (visible / "train.jsonl").open("rb") as file:
        assert overlap_in(file, "train.jsonl", index, limit=1 << 30) is None
    with (held_out / "test.jsonl").open("rb") as file:
        hit = overlap_in(file, "test.jsonl", index, limit=1 << 30)
    assert hit is not None
    assert (hit.items, hit.whole) == (index.items, index.items)


def checkpoint(folder: Path, seed: int, near: float = 0.0, **more: Any) -> Path:
    """A model of three tensors; `near` is how far it moved from the one of that seed."""
    made, moved = np.random.default_rng(seed), np.random.default_rng(seed + 1000)
    tensors = {}
    for name in ("embed.weight", "layers.0.weight", "layers.1.weight"):
        values = made.normal(size=(32, 16)).astype(np.float32)
        tensors[name] = values + near * moved.normal(size=(32, 16)).astype(np.float32)
    folder.mkdir(parents=True)
    save_file(tensors | more, folder / "model.safetensors")
    return folder


def test_weights(tmp_path: Path) -> None:
    models = {"base": checkpoint(tmp_path / "m" / "base", 1), "instruct": checkpoint(tmp_path / "m" / "instruct", 2)}
    models["wide"] = checkpoint(tmp_path / "m" / "wide", 3, extra=np.zeros((9, 9), np.float32))
    run = tmp_path / "run"
    checkpoint(run / "output" / "trained", 1, 0.01)
    checkpoint(run / "output" / "copied", 1)
    checkpoint(run / "output" / "theirs", 2, 0.001)
    checkpoint(run / "output" / "far", 7)
    (run / "output" / "broken").mkdir()
    (run / "output" / "broken" / "model.safetensors").write_bytes(b"\xff" * 64)
    facts = RunFacts("workspace", base_model="base")
    found = evidence_find(Tree(run), facts, Sources(models=models))
    assert [(each.code, each.place) for each in found] == [
        ("weights_near", "output/copied"),
        ("weights_near", "output/theirs"),
    ]
    assert "0 to base, its base model; 0 of 3" in found[0].text
    assert "instruct, which is not its base model" in found[1].text


def test_the_distance_is_that_of_the_definition(tmp_path: Path) -> None:
    one, two = checkpoint(tmp_path / "one", 1), checkpoint(tmp_path / "two", 1, 0.01)
    near = next(iter(nearest_models(two, {"one": one})))
    assert near.distance == pytest.approx(0.01, rel=0.1)
    assert near.changed == 3
