"""A checkpoint's digest as the platform counts it, so that a later upload of the weights is known to be the same."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

DIGESTED = frozenset(
    {"config.json", "generation_config.json", "model.safetensors.index.json"}
    | {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json"}
    | {"merges.txt", "vocab.txt", "tokenizer.model", "spiece.model"}
)
ADAPTER_FILE = re.compile(r"adapter_(model|config)\b.*")


def is_digested(name: str) -> bool:
    """As `grading.intake.listing.is_graded`: what a grader reads of a checkpoint's folder."""
    return name in DIGESTED or (name.endswith(".safetensors") and not ADAPTER_FILE.fullmatch(name))


def checkpoint_digest(folder: Path) -> str:
    """SHA-256 over names and contents' hashes; "" when the folder holds no weights. Raises: OSError."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and is_digested(path.name))
    if not any(name.endswith(".safetensors") for name in names):
        return ""
    digest = hashlib.sha256(b"checkpoint/1\n")
    for name in names:
        digest.update(f"{name}\0{_file_digest(folder / name)}\n".encode())
    return digest.hexdigest()


def _file_digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def checkpoint_folder(model_path: str, roots: list[Path]) -> Path | None:
    """Where a submission's `model_path` lies on this machine: as named, or by the end of its path below a root."""
    named = Path(model_path)
    if named.is_absolute() and named.is_dir():
        return named
    parts = [part for part in named.parts if part not in ("/", "..")]
    for root in roots:
        for at in range(len(parts)):
            place = root.joinpath(*parts[at:])
            if place.is_dir():
                return place
    return None
