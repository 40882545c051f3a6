"""Archives byte by byte, so that every field can be a lie."""

import io
import struct
import tarfile
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import Any

from backports import zstd

PLAIN = b'{"start_time": 1773144000, "timeout_s": 3600}'


@dataclass
class Entry:
    """One entry of a zip. None: as it should be."""

    name: bytes
    data: bytes = b"x"
    method: int = 0
    flags: int = 0x800
    mode: int = 0o100644
    stored: bytes | None = None
    """The bytes in the archive."""
    size: int | None = None
    packed: int | None = None
    crc: int | None = None
    local_name: bytes | None = None
    local_flags: int | None = None
    offset: int | None = None
    """Where its directory entry says that it begins."""


@dataclass
class Zip:
    entries: list[Entry]
    before: bytes = b""
    after: bytes = b""
    count: int | None = None
    disk: int = 0
    directory_size: int | None = None
    comment: bytes = b""
    places: list[int] = field(default_factory=list)

    def build(self) -> bytes:
        out = bytearray(self.before)
        directory = bytearray()
        for entry in self.entries:
            directory += self._one(entry, out)
        start = len(out)
        out += directory
        count = len(self.entries) if self.count is None else self.count
        size = len(directory) if self.directory_size is None else self.directory_size
        out += struct.pack(
            "<4s4H2IH", b"PK\x05\x06", self.disk, self.disk, count, count, size, start, len(self.comment)
        )
        return bytes(out + self.comment + self.after)

    def _one(self, entry: Entry, out: bytearray) -> bytes:
        stored = entry.stored
        if stored is None:
            stored = deflated(entry.data) if entry.method == 8 else entry.data
        crc = zlib.crc32(entry.data) if entry.crc is None else entry.crc
        size = len(entry.data) if entry.size is None else entry.size
        packed = len(stored) if entry.packed is None else entry.packed
        own = entry.name if entry.local_name is None else entry.local_name
        flags = entry.flags if entry.local_flags is None else entry.local_flags
        place = len(out) if entry.offset is None else entry.offset
        out += struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, flags, entry.method, 0, 33, crc, packed, size, len(own), 0)
        out += own + stored
        head = struct.pack(
            "<4sBB5H3I5H2I",
            *(b"PK\x01\x02", 20, 3, 20, entry.flags, entry.method, 0, 33, crc, packed, size),
            *(len(entry.name), 0, 0, 0, 0, entry.mode << 16, place),
        )
        return head + entry.name


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def zipped(*entries: Entry, **more: Any) -> bytes:
    return Zip(list(entries), **more).build()


def named(*names: str) -> bytes:
    """A zip with a small file of each name."""
    return zipped(*(Entry(name.encode("utf-8", "surrogateescape")) for name in names))


def plain_zip(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def member(
    name: str, kind: bytes = tarfile.REGTYPE, target: str = "", data: bytes = b"x"
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, data if kind == tarfile.REGTYPE else b""


def header(name: bytes, size: int, kind: bytes = b"0") -> bytes:
    """One raw tar header."""
    head = bytearray(512)
    head[:100] = name[:100].ljust(100, b"\0")
    head[100:108], head[108:116], head[116:124] = b"0000644\0", b"0000000\0", b"0000000\0"
    head[124:136], head[136:148] = f"{size:011o}\0".encode(), b"00000000000\0"
    head[156:157], head[257:265] = kind, b"ustar\x0000"
    head[148:156] = b" " * 8
    head[148:156] = f"{sum(head):06o}\0 ".encode()
    return bytes(head)


def zst(data: bytes, **options: Any) -> bytes:
    return zstd.compress(data, **options)
