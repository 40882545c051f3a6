"""The base model's fingerprint: everything a checkpoint is compared with, read once and kept as JSON."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grading.intake.codes import Refused
from grading.intake.headers import Tensor
from grading.intake.heads import Heads, is_tied
from grading.intake.json_files import json_file
from grading.intake.limits import IntakeLimits
from grading.intake.listing import INDEX_FILE, TEMPLATE_FILE, is_graded
from grading.intake.scan import Pair, TensorScan, weights_digest, weights_scan
from grading.intake.shards import weights_read
from grading.intake.tokenizer_checks import TokenizerFacts, tokenizer_read


class BaseModelFault(Exception):
    """The installed base model cannot serve as one: the operator's to mend."""


@dataclass(frozen=True)
class BaseFacts:
    """The fingerprint of the base in `folder`, a host path."""

    folder: Path
    config: Mapping[str, Any]
    generation: Mapping[str, Any]
    tensors: Mapping[str, Tensor]
    scans: Mapping[str, TensorScan]
    weights_digest: str
    tokenizer: TokenizerFacts
    stamps: Mapping[str, tuple[int, int]]
    """File → (bytes, modification time in ns) at the time of reading."""

    def is_current(self) -> bool:
        """Whether the folder's files still have the sizes and times that were read."""
        try:
            return _stamps(self.folder) == dict(self.stamps)
        except OSError:
            return False

    def as_dict(self) -> dict[str, Any]:
        """JSON; `from_dict` reads it back."""
        return {**asdict(self), "folder": str(self.folder)}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> "BaseFacts":
        return cls(
            folder=Path(value["folder"]),
            config=value["config"],
            generation=value["generation"],
            tensors={
                name: Tensor(**{**each, "shape": tuple(each["shape"])}) for name, each in value["tensors"].items()
            },
            scans={name: TensorScan(**each) for name, each in value["scans"].items()},
            weights_digest=value["weights_digest"],
            tokenizer=TokenizerFacts(**value["tokenizer"]),
            stamps={name: (each[0], each[1]) for name, each in value["stamps"].items()},
        )


def base_facts(folder: Path, *, limits: IntakeLimits | None = None) -> BaseFacts:
    """Read the base once: hashes every tensor, about a second a gigabyte.

    Raises: BaseModelFault when it is not a whole safetensors checkpoint.
    """
    limits = limits or IntakeLimits()
    try:
        return _read(folder, limits)
    except Refused as refusal:
        raise BaseModelFault(f"{folder}: {refusal.finding.message}") from None
    except OSError as error:
        raise BaseModelFault(f"{folder}: {error}") from error


def _read(folder: Path, limits: IntakeLimits) -> BaseFacts:
    stamps = _stamps(folder)
    names = frozenset(stamps)
    config = json_file(folder / "config.json", code="E_CONFIG_JSON")
    generation = {}
    if "generation_config.json" in names:
        generation = json_file(folder / "generation_config.json", code="E_CONFIG_JSON")
    files = sorted(name for name in names if name.endswith(".safetensors"))
    if not files:
        raise BaseModelFault(f"{folder} has no *.safetensors")
    weights = weights_read(folder, files, has_index=INDEX_FILE in names, max_header=limits.header_bytes)
    if weights.findings or not weights.tensors:
        why = weights.findings[0].message if weights.findings else "it has no tensors"
        raise BaseModelFault(f"{folder}: {why}")
    template = (folder / TEMPLATE_FILE).read_text() if TEMPLATE_FILE in names else None
    scans = weights_scan(folder, {name: Pair(each) for name, each in weights.tensors.items()})
    tensors = without_copied_head(weights.tensors, scans, config, config)
    return BaseFacts(
        folder=folder,
        config=config,
        generation=generation,
        tensors=tensors,
        scans={name: scans[name] for name in tensors},
        weights_digest=weights_digest(tensors, scans),
        tokenizer=tokenizer_read(folder, names, template),
        stamps=stamps,
    )


def without_copied_head(
    tensors: Mapping[str, Tensor],
    scans: Mapping[str, TensorScan],
    config: Mapping[str, Any],
    base_config: Mapping[str, Any],
) -> dict[str, Tensor]:
    """The tensors without a head that only repeats the embedding it is tied to."""
    heads = Heads.of(tensors)
    if not is_tied(config, base_config, tensors) or heads.embedding is None or heads.head not in tensors:
        return dict(tensors)
    if scans[heads.head].sha256 != scans[heads.embedding].sha256:
        return dict(tensors)
    return {name: each for name, each in tensors.items() if name != heads.head}


def _stamps(folder: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for path in folder.iterdir():
        if is_graded(path.name) or path.name == TEMPLATE_FILE:
            stat = path.stat()
            found[path.name] = (stat.st_size, stat.st_mtime_ns)
    return found
