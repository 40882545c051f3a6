"""From a run directory to a bundle: which files go in, what is masked in them, and the manifest over all."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bundles.dialects.agent2_writing import manifest_of
from bundles.dialects.detect import EXPECTED, READERS, runs_in
from bundles.dialects.facts import RunFacts
from bundles.format.names import is_junk, name_problem
from bundles.format.tree import Tree
from bundles.format.words import FILES_MOST, MANIFEST
from bundles.packer.digests import checkpoint_digest, checkpoint_folder
from bundles.packer.masking import PlainMasker
from bundles.rules.check import as_given
from bundles.rules.details import details_applied

PACKER = "agent2_pack.py 1.0"
DATE = (1980, 1, 1, 0, 0, 0)
"""The same run gives the same bytes."""
FILE_LIMIT = 512 << 20


class CannotPack(Exception):
    """What to do about it is in the text."""


@dataclass
class Chosen:
    """What goes into a bundle."""

    run: RunFacts
    layout: str
    files: list[dict[str, Any]]
    """Entries of the manifest without size and digest, and `source`, the file's place."""
    left_out: dict[str, str] = field(default_factory=dict)


@dataclass
class Packed:
    path: Path
    size: int
    sha256: str
    manifest: dict[str, Any]


def choose(source: Path, *, details: dict[str, Any], include: list[str], digests: list[Path], at: str = "") -> Chosen:
    """Look at `source`, a run directory or one ATIF file, and decide. Raises: CannotPack; OSError."""
    if not source.exists():
        raise CannotPack(f"There is nothing at {source}.")
    tree = Tree(source) if source.is_dir() else _single(source)
    places = [(layout, root) for layout, root in runs_in(tree) if not at or root.rstrip("/") == at.rstrip("/")]
    if not places:
        raise CannotPack(f"No run was recognised in {source}. Expected was {EXPECTED}.")
    if len(places) > 1:
        named = "\n  ".join(root.rstrip("/") or "." for _, root in places)
        raise CannotPack(f"There are {len(places)} runs in {source}; name one with --run:\n  {named}")
    layout, root = places[0]
    if layout == "agent2":
        raise CannotPack(f"{source} is a bundle already: zip it, or remove {MANIFEST} to pack it again.")
    run, _ = READERS[layout](tree, root, source.name)
    run = as_given(tree, details_applied(run, details))
    for claim in run.submissions:
        place = checkpoint_folder(claim.model_path, digests) if digests and not claim.digest else None
        claim.digest = checkpoint_digest(place) if place is not None else claim.digest
    chosen = Chosen(run, layout, [])
    roles = _roles_of(run)
    for path in tree.sizes:
        _choose_one(tree, path, chosen, include, roles.get(path))
    chosen.left_out.update((link, "a link") for link in tree.links)
    if len(chosen.files) >= FILES_MOST:
        raise CannotPack(f"{len(chosen.files):,} files would go in; a bundle holds {FILES_MOST:,}.")
    return chosen


def _single(source: Path) -> Tree:
    folder = source.parent
    return Tree(folder, {name: (folder / name).stat().st_size for name in beside(source)})


def beside(source: Path) -> list[str]:
    """One file, and what belongs to it in its folder."""
    names = [source.name, "scores.json", "results.csv", "summary.md"]
    return [name for name in names if (source.parent / name).is_file()]


def _choose_one(tree: Tree, path: str, chosen: Chosen, include: list[str], entry: dict[str, Any] | None) -> None:
    asked = any(fnmatch.fnmatch(path, pattern) for pattern in include)
    if is_junk(path):
        chosen.left_out[path] = "written by the operating system"
    elif (problem := name_problem(path)) is not None:
        chosen.left_out[path] = problem[1]
    elif path in chosen.run.ignored and not asked:
        chosen.left_out[path] = chosen.run.ignored[path]
    elif tree.sizes[path] > FILE_LIMIT:
        chosen.left_out[path] = f"larger than {FILE_LIMIT >> 20} MB"
    elif entry is None and not asked:
        chosen.left_out[path] = "not known in this layout; --include takes it"
    else:
        chosen.files.append({"path": path, "source": tree.place(path), **(entry or {"role": "other"})})


def _roles_of(run: RunFacts) -> dict[str, dict[str, Any]]:
    """Path → what its entry says beside path, size and digest."""
    found: dict[str, dict[str, Any]] = {}
    for path in run.understood:
        found[path] = {"role": "prompt" if path.endswith(("prompt.txt", "instructions.md")) else "metadata"}
    for role, paths in (
        ("samples", run.samples),
        ("summary", run.summaries),
        ("log", run.logs),
        ("transcript", run.transcripts),
    ):
        found.update((path, {"role": role}) for path in paths)
    for number, files in run.code.items():
        at = {"submission": number} if number else {}
        found.update((path, {"role": "code", "name": name, **at}) for name, path in files.items())
    return found


def pack(chosen: Chosen, out: Path, masker: PlainMasker) -> Packed:
    """Write the bundle. The file appears when it is whole. Raises: OSError."""
    part = out.with_name(out.name + ".part")
    entries = []
    redactions: list[dict[str, Any]] = list(chosen.run.redactions)
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            for file in sorted(chosen.files, key=lambda each: str(each["path"])):
                entry, counts = _write(archive, file, masker)
                entries.append(entry)
                told = ((kind, count) for kind, count in counts.items() if count)
                redactions += [{"path": entry["path"], "kind": kind, "count": count} for kind, count in told]
            chosen.run.redactions = redactions
            for claim in chosen.run.submissions:
                claim.error = masker.text(claim.error)
            manifest = manifest_of(chosen.run, entries, layout=chosen.layout, created_by=PACKER)
            archive.writestr(zip_info(MANIFEST), json.dumps(manifest, ensure_ascii=False, indent=1) + "\n")
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    digest = hashlib.sha256()
    with out.open("rb") as packed:
        for block in iter(lambda: packed.read(1 << 20), b""):
            digest.update(block)
    return Packed(out, out.stat().st_size, digest.hexdigest(), manifest)


def _write(archive: zipfile.ZipFile, file: dict[str, Any], masker: PlainMasker) -> tuple[dict[str, Any], Counter[str]]:
    digest, size = hashlib.sha256(), 0
    counts: Counter[str] = Counter()
    with open(file["source"], "rb") as source, archive.open(zip_info(file["path"]), "w", force_zip64=True) as target:
        for block, masked in masker.stream(source):
            digest.update(block)
            size += len(block)
            counts.update(masked)
            target.write(block)
    entry = {name: value for name, value in file.items() if name != "source"}
    return {**entry, "size": size, "sha256": digest.hexdigest()}, counts


def zip_info(path: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(path, DATE)
    info.external_attr = 0o100644 << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3
    return info
