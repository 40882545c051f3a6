"""All signs together, as findings. They are evidence for a person: none of them refuses a bundle."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bundles.dialects.facts import RunFacts
from bundles.format.tree import Tree
from bundles.integrity.items import items_of
from bundles.integrity.overlap import Found, Index, index_of, overlap_in
from bundles.rules.findings import Finding, found

LOOKED_AT = 64 << 20
"""Bytes of a run's code and data that are compared."""
COPY = 1e-4
"""Relative L2 distance of next to nothing."""
NEAR = 0.02
"""Below it a model that is not the base is named, if it is nearer than that. A short fine-tuning gives about 0.01."""
FILE_LOOKED_AT = 32 << 20
TEXT = (".py", ".sh", ".ipynb", ".md", ".txt", ".json", ".jsonl", ".csv", ".tsv", ".yaml", ".yml", ".toml", ".cfg")


@dataclass(frozen=True)
class Sources:
    """What this platform has to compare with."""

    held_out: Path | None = None
    """The task's held-out folder."""
    visible: Path | None = None
    models: Mapping[str, Path] = field(default_factory=dict)
    """Name → folder of installed models, base models and known relatives."""

    @classmethod
    def of(cls, told: Mapping[str, Any], task: str) -> "Sources":
        """Those for one task, from what `here.sources_here` tells."""
        folders = told.get("tasks", {}).get(task, {})
        return cls(
            held_out=Path(folders["held_out"]) if folders else None,
            visible=Path(folders["visible"]) if folders else None,
            models={name: Path(folder) for name, folder in told.get("models", {}).items()},
        )


def evidence_find(tree: Tree, run: RunFacts, sources: Sources) -> list[Finding]:
    """Held-out items in the run's code and data, and weights near to known ones. Raises: OSError."""
    return [*_overlap(tree, run, sources), *_weights(tree, run, sources)]


def _overlap(tree: Tree, run: RunFacts, sources: Sources) -> Iterator[Finding]:
    paths = [path for path in _texts(tree, run) if path in tree]
    if sources.held_out is None or not paths:
        return
    visible = items_of(sources.visible) if sources.visible is not None else iter(())
    index = index_of(items_of(sources.held_out), visible)
    if not index.items:
        return
    hits, looked_at = _compare(tree, paths, index)
    total = sum(tree.sizes[path] for path in paths)
    rest = "" if looked_at >= total else f" {looked_at >> 20} of {total >> 20} MB were compared."
    for hit in sorted(hits, key=lambda hit: -hit.items)[:10]:
        text = (
            f"{hit.items} of {index.items:,} held-out items stand in it by half or more of their 13-word sequences, "
            f"{hit.whole} of them to the last; what the visible data hold too does not count.{rest}"
        )
        yield found("held_out_overlap", text, f"{hit.path}, line {hit.first_line} on")


def _texts(tree: Tree, run: RunFacts) -> list[str]:
    """Code, and files of data that nothing else is known of; smaller ones first."""
    root = run.root + "/" if run.root else ""
    aside = {*run.transcripts, *run.logs, *run.understood, *run.samples}
    code = {path for files in run.code.values() for path in files.values()}
    every = [path for path in tree.sizes if path.startswith(root) and path not in aside and path.endswith(TEXT)]
    return sorted({*every, *code}, key=lambda path: (tree.sizes.get(path, 0), path))


def _compare(tree: Tree, paths: list[str], index: Index) -> tuple[list[Found], int]:
    hits, left = [], LOOKED_AT
    for path in paths:
        limit = min(left, FILE_LOOKED_AT, tree.sizes[path])
        if limit <= 0:
            continue
        left -= limit
        with tree.open(path) as file:
            hit = overlap_in(file, path, index, limit=limit)
        if hit is not None:
            hits.append(hit)
    return hits, LOOKED_AT - left


def weight_folders(paths: Iterable[str]) -> list[str]:
    """Folders of a bundle that hold weights."""
    return sorted({path.rpartition("/")[0] for path in paths if path.endswith(".safetensors")})


def _weights(tree: Tree, run: RunFacts, sources: Sources) -> Iterator[Finding]:
    # Imported here: numpy takes memory that most bundles need not.
    from bundles.integrity.weights import nearest_models

    root = run.root + "/" if run.root else ""
    for folder in weight_folders([path for path in tree.sizes if path.startswith(root)])[:20]:
        near = list(nearest_models(tree.place(folder), sources.models))
        base = min((each.distance for each in near if each.model == run.base_model), default=math.inf)
        for each in sorted(near, key=lambda each: each.distance)[:3]:
            is_base = each.model == run.base_model
            if each.distance < COPY or (not is_base and each.distance < min(base, NEAR)):
                text = (
                    f"Relative L2 distance {each.distance:.2g} to {each.model}"
                    f"{', its base model' if is_base else ', which is not its base model'}; "
                    f"{each.changed} of {each.tensors} tensors differ at all. Light training gives small distances too."
                )
                yield found("weights_near", text, folder)
