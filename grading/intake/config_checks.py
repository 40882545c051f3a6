"""config.json against the base's: the same architecture, nothing quantised, no code."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from grading.contract import Finding
from grading.intake.codes import finding, names, plain, shown

# What decides the tensors' shapes; a checkpoint must say these as the base does.
SHAPE_FIELDS = (
    "model_type",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "intermediate_size",
    "head_dim",
)
# What decides what is computed with them; compared where both configs say it, since versions omit defaults.
BEHAVIOUR_FIELDS = (
    "hidden_act",
    "rms_norm_eps",
    "layer_norm_eps",
    "attention_bias",
    "mlp_bias",
    "num_experts",
    "num_local_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "norm_topk_prob",
    "q_lora_rank",
    "kv_lora_rank",
    "layer_types",
    "attn_logit_softcapping",
    "final_logit_softcapping",
    "query_pre_attn_scalar",
    "embedding_multiplier",
    "residual_multiplier",
    "attention_multiplier",
    "logits_scaling",
)


def config_check(config: Mapping[str, Any], base: Mapping[str, Any]) -> Iterator[Finding]:
    """E_QUANT, E_ARCH and E_REMOTE_CODE of one parsed config."""
    if config.get("quantization_config") and not base.get("quantization_config"):
        settings = config["quantization_config"]
        method = settings.get("quant_method") if isinstance(settings, Mapping) else None
        yield finding(
            "E_QUANT",
            f"config.json has a quantization_config ({shown(method or 'unnamed method')}), the base has none",
            file="config.json",
            found=method,
        )
    yield from auto_map_check("config.json", config)
    yield from _fields_check(config, base)
    yield from _architectures_check(config, base)


def auto_map_check(file: str, parsed: Mapping[str, Any]) -> Iterator[Finding]:
    """E_REMOTE_CODE for an auto_map, however deep."""
    pending: list[Any] = [parsed]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            if value.get("auto_map"):
                yield finding("E_REMOTE_CODE", f"{file} has an auto_map, which asks for code to be run", file=file)
                return
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)


def fields_differing(config: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Field → {base, found} for everything that makes it another model than the base."""
    differing = {}
    for field in SHAPE_FIELDS:
        expected, found = _derived(base, field), _derived(config, field)
        if not _same(expected, found):
            differing[field] = {"base": plain(expected), "found": plain(found)}
    for field in BEHAVIOUR_FIELDS:
        expected, found = base.get(field), config.get(field)
        if expected is not None and found is not None and not _same(expected, found):
            differing[field] = {"base": plain(expected), "found": plain(found)}
    return differing


def _fields_check(config: Mapping[str, Any], base: Mapping[str, Any]) -> Iterator[Finding]:
    differing = fields_differing(config, base)
    if not differing:
        return
    if "model_type" in differing:
        found, expected = shown(config.get("model_type") or "nothing"), base.get("model_type")
        message = f"model_type is {found}; this run's base is {expected}"
        told = [field for field in differing if field != "model_type"]
        message += f"; {names(told)} differ too" if told else ""
    else:
        rows = [f"{field} is {shown(row['found'])}, the base has {row['base']}" for field, row in differing.items()]
        message = "config.json describes another model than the base: " + "; ".join(rows[:6])
    yield finding("E_ARCH", message, file="config.json", differs=differing)


def _architectures_check(config: Mapping[str, Any], base: Mapping[str, Any]) -> Iterator[Finding]:
    found, expected = config.get("architectures"), base.get("architectures")
    if not expected or found == expected:
        return
    if isinstance(found, list) and expected[0] in found[:1]:
        return
    says = "names none" if not found else f"names {shown(found[0] if isinstance(found, list) else found)}"
    yield finding(
        "E_ARCH",
        f"config.json's architectures {says}, expected {expected[0]}",
        file="config.json",
        expected=expected,
        found=found,
    )


def _derived(config: Mapping[str, Any], field: str) -> Any:
    """A field, or what the library derives when it is left out."""
    value = config.get(field)
    if value is not None:
        return value
    heads = config.get("num_attention_heads")
    if field == "num_key_value_heads":
        return heads
    if field == "head_dim":
        hidden = config.get("hidden_size")
        if type(hidden) is int and type(heads) is int and heads > 0:
            return hidden // heads
    return None


def _same(expected: Any, found: Any) -> bool:
    if isinstance(expected, float) and isinstance(found, float | int) and abs(found) < 1e300:
        return math.isclose(expected, found, rel_tol=1e-6)
    return type(expected) is type(found) and bool(expected == found)
