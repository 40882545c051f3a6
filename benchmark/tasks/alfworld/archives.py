"""Reading the games out of the archive they come in. Nothing is unpacked by the archive's own names or links."""

import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

GAME = re.compile(
    r"(?:\./)?json_2\.1\.1/(?P<split>train|valid_seen|valid_unseen)/"
    r"(?P<name>[A-Za-z_]+(?:-[A-Za-z0-9]+){4}/trial_T\d{8}_\d{6}_\d{6})/game\.tw-pddl"
)
LARGEST_GAME = 1_000_000
"""Bytes; the largest real one has a fifth of it."""


class BadArchive(Exception):
    """The archive is not one, or holds what no game can be."""


def games_in(archive: Path) -> Iterator[tuple[str, str, bytes]]:
    """(split, name, content of `game.tw-pddl`) of every game of the three splits; all else is passed over.

    Raises: BadArchive: not a zip or tar file, damaged, or a game too large to be one.
    """
    try:
        yield from _zipped(archive) if zipfile.is_zipfile(archive) else _tarred(archive)
    except (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise BadArchive(f"{archive.name} cannot be read: {error}") from error


def _zipped(path: Path) -> Iterator[tuple[str, str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if found := GAME.fullmatch(member.filename):
                with archive.open(member) as content:
                    yield found["split"], found["name"], _read(content, member.filename)


def _tarred(path: Path) -> Iterator[tuple[str, str, bytes]]:
    with tarfile.open(path) as archive:
        for member in archive:
            # Of a link, extractfile would read another member.
            if member.isreg() and (found := GAME.fullmatch(member.name)) and (content := archive.extractfile(member)):
                yield found["split"], found["name"], _read(content, member.name)


def _read(content: IO[bytes], name: str) -> bytes:
    """Its bytes, never more than a game can have, whatever size the archive claims."""
    data = content.read(LARGEST_GAME + 1)
    if len(data) > LARGEST_GAME:
        raise BadArchive(f"{name} is larger than {LARGEST_GAME} bytes")
    return data
