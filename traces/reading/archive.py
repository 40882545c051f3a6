"""An Inspect log in its zip form, unpacked into the stream of documents that it holds."""

import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator

ZIP = b"PK\x03\x04"
CHUNK = 1 << 20
MEMBERS = 200_000
REPEATS = re.compile(r"_journal/|summaries\.json$|reductions\.json$")
"""Members that repeat what the samples and the header say."""
UNPACKED = 64 << 30
LEAST, RATIO = 1 << 30, 200
"""An archive may unpack to `LEAST` bytes, or to `RATIO` times its size: transcripts pack 5 to 50 times."""


class Expansion:
    """Write the archive's bytes, then read the documents in order: the header, then the samples."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def contents(self, notes: list[str]) -> Iterator[bytes]:
        """The members' bytes, each ended by a line end; what cannot be read is said in `notes` and in the stream."""
        try:
            with zipfile.ZipFile(self._file) as archive:
                names = _ordered(archive.namelist()[:MEMBERS])
                left_out = len(archive.namelist()) - len(names)
                if left_out:
                    notes.append(f"{left_out} members of the archive repeat others and were left out")
                unpacked, most = 0, min(UNPACKED, max(LEAST, RATIO * self._file.seek(0, 2)))
                for name in names:
                    for data in _member(archive, name, notes):
                        unpacked += len(data)
                        if unpacked > most:
                            notes.append(f"the archive unpacks to more than {most:,} bytes: the rest was left out")
                            yield b"\nthe archive unpacks to more than is read: the rest was left out\n"
                            return
                        yield data
                    yield b"\n"
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            notes.append(f"the archive cannot be read: {error}")
            yield f"archive cannot be read: {error}\n".encode()


def _ordered(names: list[str]) -> list[str]:
    samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
    header = [name for name in ("header.json", "_journal/start.json") if name in names][:1]
    other = [n for n in names if n not in samples and n not in header and not REPEATS.search(n) and not n.endswith("/")]
    return header + sorted(samples, key=_natural) + other


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]{1,18})", name)]


def _member(archive: zipfile.ZipFile, name: str, notes: list[str]) -> Iterator[bytes]:
    try:
        with archive.open(name) as member:
            while data := member.read(CHUNK):
                yield data
    except (zipfile.BadZipFile, RuntimeError, OSError, EOFError, zlib.error) as error:
        notes.append(f"{name} cannot be unpacked: {error}")
        yield f"\n{name} cannot be unpacked: {error}\n".encode()
