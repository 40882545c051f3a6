"""Rotary position settings as the loading library understands them, whichever version wrote the config."""

from collections.abc import Mapping
from typing import Any

from grading.contract import Finding
from grading.intake.codes import finding, plain

_DEFAULT_THETA = 10000.0
_NEEDS_ORIGINAL = frozenset({"yarn", "llama3", "longrope", "dynamic"})
_PER_LAYER_TYPE = ("full_attention", "sliding_attention", "chunked_attention")

Rope = dict[str, Any]


def rope_of(config: Mapping[str, Any], *, transformers_major: int) -> Rope:
    """Normal form: rope_theta, rope_type and what else scales it; one such table per layer type if the config has so.

    Version 5 keeps all in `rope_parameters`; version 4 has `rope_theta` and `rope_scaling`, and, reading a file of
    version 5, falls back to theta 10000 without a word. Version 5 reads both.
    """
    written = config.get("rope_parameters")
    if transformers_major >= 5 and isinstance(written, Mapping) and written:
        nested = {key: each for key, each in written.items() if isinstance(each, Mapping)}
        if nested:
            return {str(key): _normal(each, config) for key, each in nested.items()}
        return _normal(written, config)
    scaling = config.get("rope_scaling")
    flat = dict(scaling) if isinstance(scaling, Mapping) else {}
    for key in ("rope_theta", "partial_rotary_factor"):
        if config.get(key) is not None:
            flat.setdefault(key, config[key])
    rope = _normal(flat, config)
    local = config.get("rope_local_base_freq")
    if local is None:
        return rope
    return {"full_attention": rope, "sliding_attention": _normal({"rope_theta": local}, config)}


def rope_check(config: Mapping[str, Any], base: Mapping[str, Any], *, transformers_major: int) -> Finding | None:
    """E_ROPE when the positions would be rotated otherwise than in the base."""
    found = rope_of(config, transformers_major=transformers_major)
    expected = rope_of(base, transformers_major=transformers_major)
    if found == expected:
        return None
    differing = sorted(key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key))
    table = {key: {"base": plain(expected.get(key)), "found": plain(found.get(key))} for key in differing}
    told = "; ".join(f"{key} {plain(found.get(key))}, the base has {plain(expected.get(key))}" for key in differing[:3])
    return finding("E_ROPE", f"config.json's rope settings differ: {told}", file="config.json", differs=table)


def _normal(rope: Mapping[str, Any], config: Mapping[str, Any]) -> Rope:
    kind = rope.get("rope_type") or rope.get("type") or "default"
    normal: Rope = {str(key): _number(each) for key, each in rope.items() if key != "type" and each is not None}
    normal["rope_type"] = kind if isinstance(kind, str) else str(type(kind))
    normal["rope_theta"] = _number(normal.get("rope_theta", _DEFAULT_THETA))
    if normal["rope_type"] == "default":
        kept = ("rope_type", "rope_theta", "partial_rotary_factor", "mrope_section")
        normal = {key: each for key, each in normal.items() if key in kept}
    elif normal["rope_type"] in _NEEDS_ORIGINAL and "original_max_position_embeddings" not in normal:
        normal["original_max_position_embeddings"] = _number(config.get("max_position_embeddings"))
    if normal.get("partial_rotary_factor") == 1.0:
        del normal["partial_rotary_factor"]
    return normal


def _number(value: Any) -> Any:
    """Numbers compare by value: 1000000 and 1e6 are the same; a boolean is none."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int) and abs(value) < 1 << 53:
        return float(value)
    return value
