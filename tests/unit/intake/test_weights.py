"""What the tensors are: entries 13 to 17 and 21 to 24."""

from typing import Any

import pytest

from grading.contract import Finding
from tests.unit.intake.conftest import Bench
from tests.unit.intake.edits import State, edit_json, edit_weights, renamed

EMBEDDING, HEAD, DOWN = "model.embed_tokens.weight", "lm_head.weight", "model.layers.0.mlp.down_proj.weight"


def only(bench: Bench) -> Finding:
    report = bench.take()
    assert [each.code for each in report.findings] == [report.findings[0].code]
    return report.findings[0]


@pytest.mark.parametrize("prefix", ["base_model.model.", "_orig_mod.", "module.", "pretrained_model."])
def test_13_a_wrapper_prefix(bench: Bench, prefix: str) -> None:
    edit_weights(bench.put(), renamed(lambda name: prefix + name))
    found = only(bench)
    assert found.code == "E_KEYS"
    assert f"strip prefix '{prefix}'" in found.message
    assert prefix in found.fix
    assert len(found.detail["expected"]) == len(found.detail["found"]) == 3


def test_13_a_model_saved_without_its_head(bench: Bench) -> None:
    bench.put("headless")
    report = bench.take()
    assert [each.code for each in report.findings] == ["E_ARCH", "E_KEYS"]
    assert "LlamaModel, expected LlamaForCausalLM" in report.findings[0].message
    assert "Add prefix 'model.'" in report.findings[1].fix


def test_13_unmerged_adapter_layers(bench: Bench) -> None:
    def wrapped(state: State) -> State:
        layer = "base_model.model.model.layers.0.self_attn.q_proj"
        state = {f"base_model.model.{name}": tensor for name, tensor in state.items()}
        weight = state.pop(f"{layer}.weight")
        return {**state, f"{layer}.base_layer.weight": weight, f"{layer}.lora_A.default.weight": weight[:4].clone()}

    edit_weights(bench.put(), wrapped)
    found = only(bench)
    assert found.code == "E_KEYS"
    assert "merge_and_unload()" in found.fix


def test_14_some_tensors_missing(bench: Bench) -> None:
    edit_weights(bench.put(), lambda state: {name: each for name, each in state.items() if ".layers.1." not in name})
    found = only(bench)
    assert found.code == "E_KEYS"
    assert found.detail["missing"] == 9
    assert "model.layers.1.input_layernorm.weight" in found.message


def test_14_a_value_head_too_many(bench: Bench) -> None:
    import torch

    edit_weights(bench.put(), lambda state: {**state, "v_head.summary.weight": torch.zeros(1, 32)})
    found = only(bench)
    assert found.code == "E_KEYS"
    assert "v_head.summary.weight" in found.message


def test_buffers_of_older_libraries_are_no_fault(bench: Bench) -> None:
    import torch

    name = "model.layers.0.self_attn.rotary_emb.inv_freq"
    edit_weights(bench.put(), lambda state: {**state, name: torch.ones(4)})
    assert bench.codes() == []


def test_15_tensors_of_an_ungathered_model(bench: Bench) -> None:
    import torch

    edit_weights(bench.put(), lambda state: {name: torch.zeros(0, dtype=each.dtype) for name, each in state.items()})
    found = only(bench)
    assert found.code == "E_SHAPE"
    assert "[0], expected [32]" in found.message
    assert "Gather" in found.fix
    assert found.detail["count"] == 20


def test_15_another_shape(bench: Bench) -> None:
    edit_weights(bench.put(), lambda state: {**state, DOWN: state[DOWN][:, :40].contiguous()})
    found = only(bench)
    assert found.code == "E_SHAPE"
    assert (found.detail["tensor"], found.detail["found"], found.detail["expected"]) == (DOWN, [32, 40], [32, 64])


def test_16_tied_but_the_head_was_trained(bench: Bench) -> None:
    edit_weights(bench.put(), lambda state: {**state, HEAD: state[EMBEDDING] * 2})
    found = only(bench)
    assert found.code == "E_TIE"
    assert "set it to false" in found.message


def test_16_its_fix_works(bench: Bench) -> None:
    folder = bench.put()
    edit_weights(folder, lambda state: {**state, HEAD: state[EMBEDDING] * 2})
    edit_json(folder / "config.json", tie_word_embeddings=False)
    assert bench.codes() == []


def test_17_untied_without_a_head(bench: Bench) -> None:
    edit_json(bench.put() / "config.json", tie_word_embeddings=False)
    found = only(bench)
    assert found.code == "E_TIE"
    assert found.detail["tensor"] == HEAD


def test_17_a_flag_that_drops_the_bases_own_head(untied_bench: Bench) -> None:
    folder = untied_bench.put("untied_trained")
    edit_json(folder / "config.json", tie_word_embeddings=True)
    edit_weights(folder, lambda state: {name: each for name, each in state.items() if name != HEAD})
    assert only(untied_bench).code == "E_TIE"


def test_17_the_untied_head_forgotten(untied_bench: Bench) -> None:
    edit_weights(
        untied_bench.put("untied_trained"), lambda state: {name: each for name, each in state.items() if name != HEAD}
    )
    assert only(untied_bench).code == "E_TIE"


def test_a_config_silent_about_tying_follows_the_base(bench: Bench) -> None:
    edit_json(bench.put() / "config.json", tie_word_embeddings=None)
    assert bench.codes() == []


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_21_weights_that_are_not_finite(bench: Bench, dtype: str, value: str) -> None:
    import torch

    def spoil(state: State) -> State:
        state = {name: each.to(getattr(torch, dtype)) for name, each in state.items()}
        state[DOWN][3, 5:8] = float(value)
        state["model.norm.weight"][-1] = float(value)
        return state

    edit_weights(bench.put(), spoil)
    findings = bench.take().findings
    assert findings[0].code == "E_NONFINITE"
    assert findings[0].detail["count"] == 4
    assert findings[0].detail["tensors"] == {DOWN: 3, "model.norm.weight": 1}
    assert [each.code for each in findings[1:]] == ([] if dtype == "bfloat16" else ["W_DTYPE"])


def test_21_the_largest_finite_values_are_finite(bench: Bench) -> None:
    import torch

    def stretch(state: State) -> None:
        state[DOWN][0, 0] = torch.finfo(torch.bfloat16).max
        state[DOWN][0, 1] = torch.finfo(torch.bfloat16).tiny

    edit_weights(bench.put(), stretch)
    assert bench.codes() == []


def test_22_float32_weights_for_a_bfloat16_base(bench: Bench) -> None:
    bench.put("float32")
    report = bench.take()
    assert [each.code for each in report.findings] == ["W_DTYPE"]
    assert report.accepted
    assert report.findings[0].detail["found"] == "F32"
    assert report.findings[0].detail["expected"] == "BF16"


def test_22_too_large(bench: Bench) -> None:
    size = sum(each.stat().st_size for each in bench.put("float32").iterdir())
    report = bench.take(total_bytes=size // 2)
    assert [each.code for each in report.findings] == ["E_TOO_LARGE"]
    assert report.findings[0].detail["file"] == "model.safetensors"


def test_23_a_quantised_config(bench: Bench) -> None:
    edit_json(bench.put() / "config.json", quantization_config={"quant_method": "bitsandbytes", "load_in_4bit": True})
    found = only(bench)
    assert found.code == "E_QUANT"
    assert "bitsandbytes" in found.message


def test_23_packed_tensors(bench: Bench) -> None:
    import torch

    def pack(state: State) -> State:
        packed: dict[str, Any] = dict(state)
        packed[DOWN] = torch.zeros(1024, 1, dtype=torch.uint8)
        packed[f"{DOWN}.absmax"] = torch.ones(32)
        return packed

    edit_weights(bench.put(), pack)
    found = only(bench)
    assert found.code == "E_QUANT"
    assert found.detail["tensor"].startswith(DOWN)


def test_24_only_the_saved_base(bench: Bench) -> None:
    bench.put("base")
    found = only(bench)
    assert found.code == "W_EQUALS_BASE"
    assert found.detail["relative_l2"] == 0
    assert "0 of 20 tensors" in found.message
