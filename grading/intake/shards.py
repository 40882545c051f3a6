"""One file or an index with shards: every tensor exactly once, and the index says what the headers say."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grading.contract import Finding
from grading.intake.codes import Refused, finding, names, refused, shown
from grading.intake.headers import Tensor, header_read
from grading.intake.json_files import json_file
from grading.intake.listing import INDEX_FILE, SINGLE_FILE

_SHARD_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}\.safetensors")


@dataclass(frozen=True)
class Weights:
    """All tensors of a checkpoint by name, and what is wrong with how they are stored.

    `tensors` is empty when something is: names and shapes are then not worth comparing.
    """

    tensors: Mapping[str, Tensor]
    findings: tuple[Finding, ...] = ()


def weights_read(folder: Path, files: Sequence[str], *, has_index: bool, max_header: int) -> Weights:
    """Read the headers of `files` and, if there is one, the index.

    Raises: OSError.
    """
    headers: dict[str, dict[str, Tensor]] = {}
    findings: list[Finding] = []
    for name in files:
        try:
            headers[name] = header_read(folder / name, max_bytes=max_header)
        except Refused as refusal:
            findings.append(refusal.finding)
    try:
        index = _index_read(folder) if has_index else None
    except Refused as refusal:
        findings.append(refusal.finding)
    else:
        findings += _layout(files, index)
        if not findings:
            findings += _repeated(headers)
            findings += _index_against(headers, index) if index is not None else ()
    tensors = {} if findings else {key: each for header in headers.values() for key, each in header.items()}
    return Weights(tensors, tuple(findings))


def _index_read(folder: Path) -> dict[str, str]:
    """The index's table tensor → shard.

    Raises: Refused (E_CONFIG_JSON, E_PATH).
    """
    table = json_file(folder / INDEX_FILE, code="E_CONFIG_JSON").get("weight_map")
    if not isinstance(table, dict) or not table:
        raise refused("E_CONFIG_JSON", f"{INDEX_FILE} has no weight_map", file=INDEX_FILE)
    for shard in table.values():
        if not isinstance(shard, str) or not _SHARD_NAME.fullmatch(shard):
            raise refused(
                "E_PATH",
                f"{INDEX_FILE} names the shard {shown(shard)}: a shard is a *.safetensors file of the same folder",
                file=INDEX_FILE,
                found=shard,
            )
    return table


def _layout(files: Sequence[str], index: Mapping[str, str] | None) -> Iterator[Finding]:
    if index is None:
        yield from _without_index(files)
        return
    wanted, present = set(index.values()), set(files)
    if SINGLE_FILE in present and SINGLE_FILE not in wanted:
        yield finding(
            "E_SHARD_AMBIGUOUS",
            f"both {SINGLE_FILE} and {INDEX_FILE} are there, and they name different weights: "
            "one of them is left from an earlier save",
            file=INDEX_FILE,
        )
        return
    if missing := sorted(wanted - present):
        yield finding(
            "E_SHARD_MISSING",
            f"{INDEX_FILE} names shards that are not there: {names(missing)}",
            file=missing[0],
            expected=sorted(wanted),
            found=sorted(present),
            missing=missing,
        )
    if extra := sorted(present - wanted):
        yield finding(
            "E_SHARD_AMBIGUOUS",
            f"weights that {INDEX_FILE} does not name: {names(extra)}",
            file=extra[0],
            found=extra,
        )


def _without_index(files: Sequence[str]) -> Iterator[Finding]:
    if list(files) == [SINGLE_FILE]:
        return
    if SINGLE_FILE in files:
        extra = [name for name in files if name != SINGLE_FILE]
        yield finding("E_SHARD_AMBIGUOUS", f"weights beside {SINGLE_FILE}: {names(extra)}", file=extra[0], found=extra)
    elif len(files) == 1:
        yield finding("E_NO_WEIGHTS", f"{files[0]} must be named {SINGLE_FILE}", file=files[0], expected=SINGLE_FILE)
    else:
        yield finding(
            "E_SHARD_MISSING", f"{len(files)} shards without {INDEX_FILE}", file=INDEX_FILE, found=list(files)
        )


def _repeated(headers: Mapping[str, Mapping[str, Tensor]]) -> Iterator[Finding]:
    counts = Counter(key for header in headers.values() for key in header)
    if twice := sorted(key for key, count in counts.items() if count > 1):
        holders = [name for name, header in headers.items() if twice[0] in header]
        yield finding(
            "E_SHARD_AMBIGUOUS",
            f"{len(twice)} tensors are stored more than once: {names(twice)}",
            tensor=twice[0],
            found=holders,
        )


def _index_against(headers: Mapping[str, Mapping[str, Tensor]], index: Mapping[str, str]) -> Iterator[Finding]:
    stored = {key: name for name, header in headers.items() for key in header}
    wrong = sorted(key for key in stored.keys() | index.keys() if stored.get(key) != index.get(key))
    if wrong:
        key = wrong[0]
        yield finding(
            "E_SHARD_AMBIGUOUS",
            f"{INDEX_FILE} and the shards' headers disagree on {len(wrong)} tensors: {names(wrong)}",
            file=INDEX_FILE,
            tensor=key,
            expected=index.get(key, "not in the index"),
            found=stored.get(key, "in no shard"),
        )
