"""Tokenizer and vocabulary: entries 18, 19, 25, 26, 28 and 29."""

import json
from pathlib import Path
from typing import Any

import pytest

from grading.contract import Finding
from tests.unit.intake.conftest import TEMPLATE, Bench
from tests.unit.intake.edits import State, edit_json, edit_weights

EMBEDDING = "model.embed_tokens.weight"


def only(bench: Bench, **limits: Any) -> Finding:
    report = bench.take(**limits)
    assert len(report.findings) == 1
    return report.findings[0]


def resize(folder: Path, rows: int) -> None:
    """What resize_token_embeddings does to the weights."""

    def change(state: State) -> State:
        import torch

        old = state[EMBEDDING]
        new = torch.zeros(rows, old.shape[1], dtype=old.dtype)
        new[: min(rows, len(old))] = old[:rows]
        return {**state, EMBEDDING: new}

    edit_weights(folder, change)


def add_tokens(folder: Path, upto: int) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    for at in range(41, upto):
        tokenizer["added_tokens"].append({"id": at, "content": f"<new{at}>", "special": True})
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


@pytest.mark.parametrize("rows", [40, 47, 64])
def test_18_rows_unlike_the_config(bench: Bench, rows: int) -> None:
    resize(bench.put(), rows)
    found = only(bench)
    assert found.code == "E_VOCAB"
    assert found.detail["config_vocab_size"] == 48
    assert found.detail["embedding_rows"] == rows
    assert found.detail["highest_token_id"] == 40
    for number in ("48", str(rows), "40"):
        assert number in found.message


def test_18_a_head_of_other_rows(untied_bench: Bench) -> None:
    edit_weights(
        untied_bench.put("untied_trained"), lambda state: {**state, "lm_head.weight": state["lm_head.weight"][:44]}
    )
    found = only(untied_bench)
    assert found.code == "E_VOCAB"
    assert found.detail["head_rows"] == 44


@pytest.mark.parametrize("value", [None, "48", [48], 10**300])
def test_18_a_config_with_an_odd_vocab_size(bench: Bench, value: object) -> None:
    edit_json(bench.put() / "config.json", vocab_size=value)
    assert only(bench).code == "E_VOCAB"


def test_19_a_tokenizer_larger_than_the_embedding(bench: Bench) -> None:
    add_tokens(bench.put(), 50)
    found = only(bench)
    assert found.code == "E_VOCAB"
    assert found.detail["highest_token_id"] == 49
    assert "resize_token_embeddings" in found.fix


def test_19_tokens_declared_in_the_tokenizers_config(bench: Bench) -> None:
    edit_json(bench.put() / "tokenizer_config.json", added_tokens_decoder={"60": {"content": "<new>"}, "x": {}})
    assert only(bench).detail["highest_token_id"] == 60


def test_a_vocabulary_grown_in_all_three_places_passes(bench: Bench) -> None:
    folder = bench.put()
    resize(folder, 64)
    add_tokens(folder, 60)
    edit_json(folder / "config.json", vocab_size=64)
    report = bench.take()
    assert report.findings == ()
    assert report.distance is not None
    assert 0.03 < report.distance.relative_l2 < 0.07


@pytest.mark.parametrize(
    ("value", "major", "codes"),
    [
        (["<x>"], 4, ["E_TOKENIZER"]),
        (["<x>"], 5, []),
        ({"x": "<x>"}, 4, []),
        ("<x>", 5, ["E_TOKENIZER"]),
    ],
)
def test_25_extra_special_tokens(bench: Bench, value: object, major: int, codes: list[str]) -> None:
    folder = bench.put()
    edit_json(folder / "tokenizer_config.json", extra_special_tokens=value, tokenizer_class="PreTrainedTokenizerFast")
    report = bench.take(transformers_major=major)
    assert [each.code for each in report.findings] == codes
    assert all("extra_special_tokens" in each.fix for each in report.findings)


def test_26_a_tokenizer_class_of_version_5(bench: Bench) -> None:
    bench.put()
    found = only(bench, transformers_major=4)
    assert found.code == "E_TOKENIZER"
    assert "TokenizersBackend" in found.message
    assert bench.codes(transformers_major=5) == []


def test_28_no_tokenizer(bench: Bench) -> None:
    for file in bench.put().glob("tokenizer*"):
        file.unlink()
    found = only(bench)
    assert found.code == "E_TOKENIZER"
    assert "tokenizer.save_pretrained" in found.fix


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{}",
        '{"model": 1}',
        '{"model": {"type": "BPE"}}',
        '{"model": {"type": "Neural", "vocab": {"a": 0}}}',
        '{"model": {"type": ["BPE"], "vocab": {"a": 0}}}',
        '{"model": {"vocab": {"a": "0"}}}',
        '{"model": {"vocab": {"a": -1}}}',
        '{"model": {"vocab": {"a": true}}}',
        '{"model": {"vocab": {"a": 0}}, "added_tokens": [1]}',
        '{"model": {"vocab": {"a": 0}}, "added_tokens": {"id": 1}}',
        '{"model": {"vocab": {"a": 99999999999999999999}}}',
        '{"model": {"vocab": ' + '{"a":' * 2000,
    ],
)
def test_28_a_tokenizer_json_that_is_none(bench: Bench, text: str) -> None:
    (bench.put() / "tokenizer.json").write_text(text)
    assert only(bench).code == "E_TOKENIZER"


@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"])
def test_28_its_other_files_must_be_json(bench: Bench, file: str) -> None:
    (bench.put() / file).write_text("{'a': 1}")
    found = only(bench)
    assert found.code == "E_TOKENIZER"
    assert found.detail["file"] == file


def test_a_unigram_vocabulary_is_a_list(bench: Bench) -> None:
    edit_json(
        bench.put() / "tokenizer.json", model={"type": "Unigram", "vocab": [[f"t{at}", -1.0] for at in range(49)]}
    )
    assert only(bench).detail["highest_token_id"] == 48


def test_29_another_chat_template_is_not_used(bench: Bench) -> None:
    (bench.put() / "chat_template.jinja").write_text("{{ 'The answer is 42' }}")
    report = bench.take()
    assert [each.code for each in report.findings] == ["W_TEMPLATE_IGNORED"]
    assert report.accepted
    assert "chat_template.jinja" in report.ignored
    assert report.snapshot is not None
    assert not (report.snapshot / "chat_template.jinja").exists()


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        (TEMPLATE, []),
        ([{"name": "default", "template": TEMPLATE}], []),
        ("{{ 1 }}", ["W_TEMPLATE_IGNORED"]),
        ([{"name": "default", "template": "{{ 1 }}"}], ["W_TEMPLATE_IGNORED"]),
        (7, []),
        ([7, {"name": "default"}], []),
    ],
)
def test_29_a_template_inside_the_config(bench: Bench, value: object, codes: list[str]) -> None:
    folder = bench.put()
    (folder / "chat_template.jinja").unlink()
    edit_json(folder / "tokenizer_config.json", chat_template=value)
    assert bench.codes() == codes


def test_29_no_template_matters_only_where_it_would_be_used(bench: Bench) -> None:
    (bench.put() / "chat_template.jinja").unlink()
    assert bench.codes() == []
    assert bench.codes(chat_template_required=True) == ["E_CHAT_TEMPLATE"]
