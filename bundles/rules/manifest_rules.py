"""The manifest by itself, and against the files of the archive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bundles.dialects.values import rows, table, whole, word
from bundles.format.jsonfile import BadJson, json_load
from bundles.format.names import is_junk, name_problem, shown
from bundles.format.schema import MANIFEST_SCHEMA
from bundles.format.schema_check import schema_faults
from bundles.format.tree import Tree
from bundles.format.words import MANIFEST, MANIFEST_LIMIT
from bundles.rules.findings import TOLD, Finding, found

YAMLS = ("manifest.yaml", "manifest.yml")


def manifest_load(tree: Tree, root: str) -> tuple[dict[str, Any] | None, list[Finding]]:
    """The manifest, None where it cannot be read at all; and what is wrong with its form."""
    path = root + MANIFEST
    try:
        value = json_load(tree.place(path), MANIFEST_LIMIT)
    except BadJson as error:
        code = error.code.replace("json_", "manifest_")
        return None, [found(code, error.text, path)]
    faults = schema_faults(value, MANIFEST_SCHEMA)
    findings = [_fault(place, text, path) for place, text in faults]
    return (value if isinstance(value, dict) else None), findings


def yaml_manifest(tree: Tree) -> list[Finding]:
    """A manifest in YAML is not obeyed; which harm it could do is told."""
    for path in tree.sizes:
        if path.rsplit("/", 1)[-1] in YAMLS and path.count("/") <= 1:
            try:
                json_load(tree.place(path), MANIFEST_LIMIT)
            except BadJson as error:
                return [found(error.code.replace("json_", "manifest_"), error.text, path)]
            return [found("manifest_yaml", f"{path} is not read.", path)]
    return []


def _fault(place: str, text: str, path: str) -> Finding:
    if "which is no number" in text:
        return found("manifest_not_finite", f"{place}: {text}.", f"{path}, {place}")
    if place == "version":
        return found("manifest_version", f"{text}; this platform reads 1.x.", f"{path}, {place}")
    return found("manifest_schema", f"{place}: {text}.", f"{path}, {place}")


def files_findings(tree: Tree, root: str, manifest: dict[str, Any]) -> Iterator[Finding]:
    """The list of files against the files; every one is read once for its digest."""
    path = root + MANIFEST
    listed: dict[str, dict[str, Any]] = {}
    counts: dict[str, int] = {}
    for at, entry in enumerate(map(table, rows(manifest.get("files")))):
        name = word(entry.get("path"), 2000)
        wrong = _listed(tree, root + name, name, entry, name in listed)
        listed[name] = entry
        for code, text in wrong:
            finding = found(code, text, f"{path}, files[{at}]")
            counts[finding.code] = counts.get(finding.code, 0) + 1
            if counts[finding.code] <= TOLD:
                yield finding
    for code, count in counts.items():
        if count > TOLD:
            yield found(code, f"{count - TOLD} more of these are not listed.", path)
    extra = [each for each in tree.sizes if each.startswith(root) and each[len(root) :] not in listed and each != path]
    extra = [each for each in extra if not is_junk(each)]
    if extra:
        text = f"{len(extra)} were not read: {', '.join(map(shown, extra[:5]))}{' …' if len(extra) > 5 else ''}."
        yield found("manifest_file_extra", text, extra[0])


def _listed(tree: Tree, path: str, name: str, entry: dict[str, Any], again: bool) -> Iterator[tuple[str, str]]:
    """What is wrong with one entry of the list: codes and sentences."""
    if (problem := name_problem(name)) is not None:
        yield "manifest_name", problem[1]
    elif again:
        yield "manifest_twice", f"{shown(name)} is listed again."
    elif path not in tree:
        yield "manifest_file_missing", f"{shown(path)} was expected."
    elif entry.get("size") != tree.sizes[path]:
        yield "manifest_size", f"{shown(path)} has {tree.sizes[path]:,} bytes, not {entry.get('size')}."
    elif entry.get("sha256") != (digest := tree.sha256(path)):
        yield "manifest_digest", f"{shown(path)} has SHA-256 {digest[:12]}…, not the one listed."


def same_as_findings(manifest: dict[str, Any]) -> Iterator[Finding]:
    """`same_as` must lead to a submission that stands for itself."""
    entries = [table(each) for each in rows(manifest.get("submissions"))]
    follows = {whole(each.get("number")): whole(each.get("same_as")) for each in entries}
    place = f"{MANIFEST}, submissions"
    unknown = [(number, after) for number, after in follows.items() if after is not None and after not in follows]
    for number, after in unknown[:TOLD]:
        yield found("same_as_unknown", f"Submission {number} repeats {after}.", place)
    done: set[int | None] = set()
    for start in follows:
        way: dict[int | None, None] = {}
        here: int | None = start
        while here is not None and here not in done and here not in way:
            way[here] = None
            here = follows.get(here)
        if here in way:
            circle = list(way)[list(way).index(here) :]
            yield found("same_as_cycle", " → ".join(map(str, [*circle[:20], here])) + ".", place)
        done.update(way)
