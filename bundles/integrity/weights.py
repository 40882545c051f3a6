"""How near the weights in a bundle are to models that are installed here."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grading.intake.codes import Refused
from grading.intake.listing import INDEX_FILE
from grading.intake.scan import Pair, pair_for, weights_scan
from grading.intake.shards import Weights, weights_read

HEADER_LIMIT = 100 << 20
SHARED_LEAST = 0.5
"""Of the tensors, by name and shape: below this two models are of different make."""


@dataclass(frozen=True)
class Nearness:
    """`distance` is ‖ours − theirs‖ / ‖theirs‖ over the shared tensors; `changed` of `tensors` differ at all."""

    model: str
    distance: float
    tensors: int
    changed: int


def nearest_models(folder: Path, references: Mapping[str, Path]) -> Iterator[Nearness]:
    """How far each reference of the same make is. Weights that cannot be read are near to nothing.

    Reads both checkpoints once a reference, about a second a gigabyte. Raises: OSError.
    """
    ours = _weights(folder)
    if ours is None:
        return
    for name, place in references.items():
        theirs = _weights(place)
        if theirs is None:
            continue
        pairs = {each: pair_for(ours.tensors[each], theirs.tensors.get(each)) for each in ours.tensors}
        shared = {each: pair for each, pair in pairs.items() if pair.base is not None}
        if len(shared) < SHARED_LEAST * max(len(ours.tensors), len(theirs.tensors)):
            continue
        scans = weights_scan(folder, shared, place)
        norms = weights_scan(place, {each: Pair(theirs.tensors[each]) for each in shared})
        squares = math.fsum(scan.square_distance for scan in scans.values())
        norm = math.fsum(scan.square_norm for scan in norms.values())
        yield Nearness(
            name, math.sqrt(squares / norm) if norm else 0.0, len(shared), sum(s.changed for s in scans.values())
        )


def _weights(folder: Path) -> Weights | None:
    """Every tensor of the folder, None when its files are not whole."""
    try:
        names = [path.name for path in folder.iterdir() if path.is_file()]
        files = sorted(name for name in names if name.endswith(".safetensors"))
        weights = weights_read(folder, files, has_index=INDEX_FILE in names, max_header=HEADER_LIMIT)
    except (Refused, FileNotFoundError, NotADirectoryError):
        return None
    return weights if weights.tensors and not weights.findings else None
