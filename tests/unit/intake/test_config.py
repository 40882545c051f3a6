"""config.json: entries 3, 4, 5, 20, 27 and 37."""

from collections.abc import Mapping
from typing import Any

import pytest

from grading.contract import Finding
from grading.intake.rope import rope_check, rope_of
from tests.unit.intake.conftest import Bench
from tests.unit.intake.edits import edit_json


def only(bench: Bench, **limits: Any) -> Finding:
    report = bench.take(**limits)
    assert len(report.findings) == 1
    return report.findings[0]


@pytest.mark.parametrize("file", ["config.json", "generation_config.json"])
@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{\n "a": 1,\n "b": ', "line 3, column 7"),
        ("", "empty"),
        ("[]", "not a JSON object"),
        ('{"a": 1}}', "line 1, column 9"),
        ('{"a":' * 5000, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "too many digits"),
    ],
)
def test_3_invalid_json(bench: Bench, file: str, text: str, where: str) -> None:
    (bench.put() / file).write_text(text)
    found = only(bench)
    assert found.code == "E_CONFIG_JSON"
    assert found.message.startswith(file)
    assert where in found.message


def test_3_bytes_that_are_not_utf8(bench: Bench) -> None:
    (bench.put() / "config.json").write_bytes(b'{"a": "\xff"}')
    assert "byte 7" in only(bench).message


@pytest.mark.parametrize("value", ["foo", None, 7, ["llama"], "x" * 10_000, "a\nb\x1b[31m"])
def test_4_unknown_model_type(bench: Bench, value: object) -> None:
    edit_json(bench.put() / "config.json", model_type=value)
    found = only(bench)
    assert found.code == "E_ARCH"
    assert "this run's base is llama" in found.message
    assert found.message.isprintable()
    assert len(found.message) < 400


@pytest.mark.parametrize("value", [None, [], ["LlamaModel"], "LlamaForCausalLM", [None], {"a": 1}, [["x"]]])
def test_5_architectures(bench: Bench, value: object) -> None:
    edit_json(bench.put() / "config.json", architectures=value)
    found = only(bench)
    assert found.code == "E_ARCH"
    assert "expected LlamaForCausalLM" in found.message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("num_hidden_layers", 3),
        ("hidden_size", 64),
        ("intermediate_size", 128),
        ("num_attention_heads", 8),
        ("num_key_value_heads", 4),
        ("num_key_value_heads", None),
        ("head_dim", 16),
        ("rms_norm_eps", 1e-5),
        ("hidden_act", "gelu"),
        ("attention_bias", True),
        ("num_hidden_layers", "2"),
        ("num_hidden_layers", 10**400),
        ("hidden_size", None),
        ("hidden_size", [32]),
    ],
)
def test_20_and_37_fields_that_differ_from_the_base(bench: Bench, field: str, value: object) -> None:
    edit_json(bench.put() / "config.json", **{field: value})
    found = only(bench)
    assert found.code == "E_ARCH"
    assert field in found.message
    assert field in found.detail["differs"]


def test_20_depth_pruned_with_its_weights(bench: Bench) -> None:
    from tests.unit.intake.edits import edit_weights

    folder = bench.put()
    edit_json(folder / "config.json", num_hidden_layers=1)
    edit_weights(folder, lambda state: {name: each for name, each in state.items() if ".layers.1." not in name})
    found = only(bench)
    assert found.code == "E_ARCH"
    assert found.detail["differs"]["num_hidden_layers"] == {"base": 2, "found": 1}


def test_fields_left_at_what_the_library_derives_are_equal(bench: Bench) -> None:
    edit_json(bench.put() / "config.json", head_dim=None, pretraining_tp=None, use_cache=False, _name_or_path="x")
    assert bench.codes() == []


def test_27_another_rope_theta(bench: Bench) -> None:
    edit_json(bench.put() / "config.json", rope_parameters={"rope_theta": 10000.0, "rope_type": "default"})
    found = only(bench)
    assert found.code == "E_ROPE"
    assert "rope_theta 10000.0, the base has 500000.0" in found.message


def test_27_the_older_spelling_is_the_same(bench: Bench) -> None:
    edit_json(bench.put() / "config.json", rope_parameters=None, rope_theta=500000, rope_scaling=None)
    assert bench.codes() == []


def test_27_a_config_of_version_5_read_by_version_4(bench: Bench) -> None:
    base = {**bench.base.config, "rope_theta": 500000.0}
    found = rope_check(bench.base.config, base, transformers_major=4)
    assert found is not None
    assert found.code == "E_ROPE"
    assert rope_check(bench.base.config, base, transformers_major=5) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({}, {"rope_theta": 10000}, True),
        ({"rope_theta": 1e6}, {"rope_parameters": {"rope_theta": 1000000, "rope_type": "default"}}, True),
        ({"rope_theta": 1e6}, {"rope_theta": 1e5}, False),
        (
            {"rope_theta": 1e4, "rope_scaling": {"type": "linear", "factor": 2}},
            {"rope_parameters": {"rope_theta": 1e4, "rope_type": "linear", "factor": 2.0}},
            True,
        ),
        ({"rope_scaling": {"type": "linear", "factor": 2}}, {"rope_scaling": {"type": "linear", "factor": 4}}, False),
        (
            {"max_position_embeddings": 4096, "rope_scaling": {"rope_type": "yarn", "factor": 4}},
            {"rope_parameters": {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 4096}},
            True,
        ),
        (
            {"rope_theta": 1e6, "rope_local_base_freq": 1e4},
            {"rope_parameters": {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}}},
            True,
        ),
        ({"partial_rotary_factor": 0.5}, {"rope_parameters": {"partial_rotary_factor": 0.5}}, True),
        ({"rope_parameters": "x"}, {}, True),
        ({"rope_scaling": {"type": ["x"]}}, {}, False),
        ({"rope_theta": True}, {"rope_theta": 1}, False),
    ],
)
def test_27_normal_form_of_rope_settings(one: Mapping[str, Any], other: Mapping[str, Any], same: bool) -> None:
    assert (rope_of(one, transformers_major=5) == rope_of(other, transformers_major=5)) is same


def test_27_normal_form_agrees_with_transformers() -> None:
    from transformers import LlamaConfig

    old: dict[str, Any] = {"rope_theta": 5e5, "rope_scaling": {"rope_type": "linear", "factor": 2.0}}
    new = LlamaConfig(**old).to_dict()
    assert rope_of(old, transformers_major=5) == rope_of(new, transformers_major=5)
