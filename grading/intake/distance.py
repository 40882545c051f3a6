"""How far a checkpoint is from the base, and whether anything that decides a score differs at all."""

import math
from collections.abc import Mapping
from typing import Any

from grading.contract import Finding
from grading.intake.base import BaseFacts
from grading.intake.codes import finding
from grading.intake.config_checks import fields_differing
from grading.intake.headers import Tensor
from grading.intake.heads import is_tied
from grading.intake.limits import IntakeLimits
from grading.intake.report import Distance
from grading.intake.rope import rope_of
from grading.intake.scan import TensorScan
from grading.intake.tokenizer_checks import TokenizerFacts

# Who wrote the file and how it is stored, not what the model computes.
_WRITTEN_BY = frozenset(
    {
        "transformers_version",
        "dtype",
        "torch_dtype",
        "_name_or_path",
        "use_cache",
        "rope_parameters",
        "rope_scaling",
        "rope_theta",
    }
)
_TOKENIZER_WRITTEN_BY = frozenset(
    {
        "tokenizer_class",
        "backend",
        "name_or_path",
        "is_local",
        "added_tokens_decoder",
        "padding_side",
        "local_files_only",
    }
)


def distance_measure(
    tensors: Mapping[str, Tensor], scans: Mapping[str, TensorScan], base: BaseFacts
) -> Distance | None:
    """Compare the tensors that both have; None when they share none."""
    shared = [name for name in tensors if name in base.tensors]
    if not shared:
        return None
    changed = sum(_is_changed(name, tensors, scans, base) for name in shared)
    squares = math.fsum(scans[name].square_distance for name in shared)
    norm = math.fsum(base.scans[name].square_norm for name in shared)
    relative = math.sqrt(squares / norm) if norm else float(squares > 0)
    return Distance(len(shared), changed, relative)


def distance_check(distance: Distance, limits: IntakeLimits) -> Finding | None:
    """W_EQUALS_BASE when nothing, or next to nothing, was trained."""
    if distance.changed and distance.relative_l2 >= limits.near_base:
        return None
    return finding(
        "W_EQUALS_BASE",
        f"{distance.changed} of {distance.tensors} tensors differ from the base's, "
        f"relative L2 distance {distance.relative_l2:.2g}",
        changed_share=distance.changed_share,
        relative_l2=distance.relative_l2,
    )


def behaves_as_base(
    config: Mapping[str, Any], generation: Mapping[str, Any], tokenizer: TokenizerFacts, base: BaseFacts, major: int
) -> bool:
    """Whether, with the base's weights, every score would be the base's: when in doubt, no."""
    return (
        is_tied(config, base.config, base.tensors) == is_tied(base.config, base.config, base.tensors)
        and not fields_differing(config, base.config)
        and _agree(config, base.config, _WRITTEN_BY)
        and rope_of(config, transformers_major=major) == rope_of(base.config, transformers_major=major)
        and _stop_ids(generation, config) == _stop_ids(base.generation, base.config)
        and tokenizer.sha256 == base.tokenizer.sha256
        and _agree(tokenizer.settings or {}, base.tokenizer.settings or {}, _TOKENIZER_WRITTEN_BY)
    )


def _is_changed(name: str, tensors: Mapping[str, Tensor], scans: Mapping[str, TensorScan], base: BaseFacts) -> bool:
    ours, theirs = tensors[name], base.tensors[name]
    same_bytes = scans[name].sha256 == base.scans[name].sha256
    return not (same_bytes and ours.dtype == theirs.dtype and ours.shape == theirs.shape) and scans[name].changed


def _agree(ours: Mapping[str, Any], theirs: Mapping[str, Any], written_by: frozenset[str]) -> bool:
    """Whether all values that both give are equal."""
    return all(_token(ours[key]) == _token(theirs[key]) for key in ours.keys() & theirs.keys() - written_by)


def _token(value: Any) -> Any:
    """A token is written as its text, or as a table with its text as `content`."""
    return value["content"] if isinstance(value, Mapping) and "content" in value else value


def _stop_ids(generation: Mapping[str, Any], config: Mapping[str, Any]) -> list[Any]:
    ids = generation.get("eos_token_id", config.get("eos_token_id"))
    return sorted(ids, key=repr) if isinstance(ids, list) else [ids]
