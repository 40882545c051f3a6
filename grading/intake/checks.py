"""All checks of the private copy, in an order in which none reports another's consequence."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grading.contract import Finding
from grading.intake.base import BaseFacts, without_copied_head
from grading.intake.codes import Refused, finding, names
from grading.intake.config_checks import SHAPE_FIELDS, config_check
from grading.intake.distance import behaves_as_base, distance_check, distance_measure
from grading.intake.headers import Tensor
from grading.intake.heads import Heads, is_tied, tie_check
from grading.intake.json_files import json_file
from grading.intake.limits import IntakeLimits
from grading.intake.listing import INDEX_FILE
from grading.intake.report import Distance
from grading.intake.rope import rope_check
from grading.intake.scan import TensorScan, pair_for, weights_digest, weights_scan
from grading.intake.shards import weights_read
from grading.intake.tokenizer_checks import TokenizerFacts, tokenizer_check, tokenizer_read
from grading.intake.weight_checks import dtype_check, keys_check, quantised_check, shapes_check, vocab_check


@dataclass
class Checked:
    """What the checks found."""

    findings: list[Finding] = field(default_factory=list)
    weights_digest: str | None = None
    distance: Distance | None = None
    equals_base: bool = False


@dataclass(frozen=True)
class _Parsed:
    """The copy's small files; `config` is None when it is unusable."""

    config: Mapping[str, Any] | None
    generation: Mapping[str, Any]
    tokenizer: TokenizerFacts | None


def checkpoint_check(
    folder: Path, files: frozenset[str], template: str | None, base: BaseFacts, limits: IntakeLimits
) -> Checked:
    """Check the private copy in `folder`; `template` is the submitted chat_template.jinja's text.

    Raises: OSError.
    """
    findings: list[Finding] = []
    parsed = _parse(folder, files, template, findings)
    if parsed.tokenizer is not None:
        findings += tokenizer_check(parsed.tokenizer, base.tokenizer, limits)
    if parsed.config is not None:
        findings += _config_findings(parsed.config, base, limits)
    shards = sorted(name for name in files if name.endswith(".safetensors"))
    weights = weights_read(folder, shards, has_index=INDEX_FILE in files, max_header=limits.header_bytes)
    findings += weights.findings
    if weights.findings:
        return Checked(findings)
    findings += _header_findings(weights.tensors, parsed, base, findings)
    pairs = {name: pair_for(each, base.tensors.get(name)) for name, each in weights.tensors.items()}
    scans = weights_scan(folder, pairs, base.folder)
    findings += _nonfinite_check(weights.tensors, scans)
    if parsed.config is None:
        return Checked(findings)
    findings += _tie_findings(weights.tensors, scans, parsed.config, base)
    tensors = without_copied_head(weights.tensors, scans, parsed.config, base.config)
    checked = Checked(findings, weights_digest(tensors, scans))
    if not any(each.refuses for each in findings):
        _base_compare(checked, tensors, scans, parsed, base=base, limits=limits)
    return checked


def _parse(folder: Path, files: frozenset[str], template: str | None, findings: list[Finding]) -> _Parsed:
    def parsed(name: str) -> dict[str, Any] | None:
        if name not in files:
            return None
        try:
            return json_file(folder / name, code="E_CONFIG_JSON")
        except Refused as refusal:
            findings.append(refusal.finding)
            return None

    tokenizer = None
    try:
        tokenizer = tokenizer_read(folder, files, template)
    except Refused as refusal:
        findings.append(refusal.finding)
    return _Parsed(parsed("config.json"), parsed("generation_config.json") or {}, tokenizer)


def _config_findings(config: Mapping[str, Any], base: BaseFacts, limits: IntakeLimits) -> Iterator[Finding]:
    yield from config_check(config, base.config)
    if config.get("model_type") == base.config.get("model_type"):
        rope = rope_check(config, base.config, transformers_major=limits.transformers_major)
        if rope is not None:
            yield rope


def _base_compare(
    checked: Checked,
    tensors: Mapping[str, Tensor],
    scans: Mapping[str, TensorScan],
    parsed: _Parsed,
    *,
    base: BaseFacts,
    limits: IntakeLimits,
) -> None:
    """Complete `checked` for a checkpoint with no fault: how far it is from the base."""
    distance = distance_measure(tensors, scans, base)
    if distance is None or parsed.config is None or parsed.tokenizer is None:
        return
    near = distance_check(distance, limits)
    checked.findings += [near] if near is not None else []
    checked.distance = distance
    checked.equals_base = (
        distance.changed == 0
        and tensors.keys() == base.tensors.keys()
        and behaves_as_base(parsed.config, parsed.generation, parsed.tokenizer, base, limits.transformers_major)
    )


def _header_findings(
    tensors: Mapping[str, Tensor], parsed: _Parsed, base: BaseFacts, earlier: list[Finding]
) -> list[Finding]:
    """Names, shapes, dtypes and rows; not those that follow from quantisation or from another architecture."""
    heads = Heads.of(base.tensors)
    if quantised := list(quantised_check(tensors, base.tensors)):
        return [] if any(each.code == "E_QUANT" for each in earlier) else quantised
    found = list(dtype_check(tensors, base.tensors))
    differs = [name for each in earlier if each.code == "E_ARCH" for name in each.detail.get("differs", ())]
    if not set(differs) & set(SHAPE_FIELDS):
        found += keys_check(tensors, base.tensors, heads)
        found += shapes_check(tensors, base.tensors, heads)
    if parsed.config is not None:
        highest = parsed.tokenizer.highest_id if parsed.tokenizer else None
        found += vocab_check(parsed.config, tensors, heads, highest)
    return found


def _tie_findings(
    tensors: Mapping[str, Tensor], scans: Mapping[str, TensorScan], config: Mapping[str, Any], base: BaseFacts
) -> Iterator[Finding]:
    heads = Heads.of(base.tensors)
    head, embedding = scans.get(heads.head), scans.get(heads.embedding or "")
    if embedding is None:
        return
    yield from tie_check(
        tensors,
        base.tensors,
        heads,
        tied=is_tied(config, base.config, base.tensors),
        base_tied=is_tied(base.config, base.config, base.tensors),
        same_bytes=None if head is None else head.sha256 == embedding.sha256,
    )


def _nonfinite_check(tensors: Mapping[str, Tensor], scans: Mapping[str, TensorScan]) -> Iterator[Finding]:
    bad = sorted(name for name, scan in scans.items() if scan.nonfinite)
    if bad:
        total = sum(scans[name].nonfinite for name in bad)
        yield finding(
            "E_NONFINITE",
            f"{total} weights are NaN or infinite, in {len(bad)} tensors: {names(bad)}",
            file=tensors[bad[0]].file,
            tensor=bad[0],
            count=total,
            tensors={name: scans[name].nonfinite for name in bad[:10]},
        )
