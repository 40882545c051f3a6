"""Opening an archive: what it is, whether its name says so, and then its guard."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from bundles.unpacking.limits import Limits
from bundles.unpacking.quarantine import Quarantine, kind_of
from bundles.unpacking.refusal import Refused, refused
from bundles.unpacking.tar_guard import tar_unpack
from bundles.unpacking.zip_guard import zip_unpack

ENDINGS = {
    "zip": (".zip",),
    "tar": (".tar",),
    "gzip": (".tar.gz", ".tgz"),
    "zstd": (".tar.zst", ".tzst", ".tar.zstd"),
}
LOOKS = (
    (re.compile(rb"%PDF"), "a PDF"),
    (re.compile(rb"\s*<(?:!doctype|html|\?xml)", re.IGNORECASE), "a web page"),
    (re.compile(rb"\s*[{\[]"), "JSON"),
    (re.compile(rb"\x7fELF|MZ"), "a program"),
    (re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8"), "an image"),
    (re.compile(rb"[\x09\x0a\x0d\x20-\x7e\x80-\xff]{16,}$"), "text"),
)


@dataclass(frozen=True)
class Unpacked:
    """What came out. `left_out` is name → why; `notes` are sentences."""

    folder: Path
    kind: str
    files: int
    bytes: int
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def archive_unpack(archive: Path, into: Path, *, filename: str, limits: Limits | None = None) -> Unpacked:
    """Unpack `archive`, called `filename` by whoever sent it, into the empty folder `into`.

    Nothing is written elsewhere; on any refusal `into` is emptied. Memory does not grow with the archive.
    Raises: Refused; OSError.
    """
    limits = limits or Limits()
    kind = archive_kind(archive, filename)
    quarantine = Quarantine(into, limits)
    notes: list[str] = []
    into.mkdir(parents=True, exist_ok=True)
    if any(into.iterdir()):
        raise FileExistsError(f"{into} is not empty")
    try:
        if kind == "zip":
            zip_unpack(archive, quarantine, notes)
        else:
            tar_unpack(archive, kind, quarantine, notes)
        quarantine.end()
    except BaseException:
        _emptied(into)
        raise
    return Unpacked(into, kind, quarantine.files, quarantine.size, quarantine.left_out, notes)


def archive_kind(archive: Path, filename: str) -> str:
    """zip, tar, gzip or zstd. Raises: Refused: it is none, or is named after another."""
    with archive.open("rb") as file:
        head = file.read(4096)
    if not head:
        raise refused("empty_file")
    kind = kind_of(head)
    named = next((each for each, endings in ENDINGS.items() if filename.lower().endswith(endings)), "")
    if not kind and named == "tar" and not head.strip(b"\0"):
        return "tar"
    if kind not in ENDINGS:
        looks = kind or next((what for pattern, what in LOOKS if pattern.match(head)), "something else")
        if named == "zip" and b"PK\x03\x04" in head:
            raise refused("leading_data", what="Bytes")
        raise refused("not_an_archive", what=f"a {kind} archive" if kind else looks)
    if named != kind:
        raise refused(
            "wrong_extension",
            name=filename or "nothing",
            what={"gzip": "a gzip", "zstd": "a Zstandard stream"}.get(kind, f"a {kind}"),
        )
    return kind


def _emptied(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


__all__ = ["Limits", "Refused", "Unpacked", "archive_unpack"]
