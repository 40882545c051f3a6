"""Zips: the directory is judged as a whole before the first byte is unpacked."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from bundles.unpacking.limits import PIECE, Limits
from bundles.unpacking.quarantine import Quarantine
from bundles.unpacking.refusal import amount, refused

END = b"PK\x05\x06"
END_SIZE = 22
END64_PLACE = b"PK\x06\x07"
LOCAL = struct.Struct("<4s5H3I2H")
UTF8 = 0x800
ZIP_KINDS = {
    stat.S_IFLNK: "link",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
}


def zip_unpack(archive: Path, quarantine: Quarantine, notes: list[str]) -> None:
    """Raises: Refused; OSError."""
    with archive.open("rb") as file:
        _end_judge(file, archive.stat().st_size, quarantine.limits)
        try:
            opened = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, struct.error, ValueError, RuntimeError) as error:
            raise refused("damaged", what=str(error)) from error
        with opened:
            names = _entry_names(opened.infolist(), notes)
            _directory_judge(opened, names, quarantine)
            places = _layout_judge(file, opened, names)
            for info, name in names:
                if quarantine.admit(name, info.is_dir() or name.endswith("/")):
                    blocks = _contents(file, places[info.header_offset], info, name)
                    quarantine.write(name, blocks, info.file_size, info.compress_size)


def _end_judge(file: BinaryIO, size: int, limits: Limits) -> None:
    """The record at the end, read before anything that trusts it."""
    span = min(size, END_SIZE + 65_535)
    file.seek(size - span)
    tail = file.read(span)
    at = tail.rfind(END)
    if at < 0 or len(tail) - at < END_SIZE:
        raise refused("truncated", what="its directory is missing")
    disk, start_disk, here, entries, directory, offset, comment = struct.unpack_from("<4H2IH", tail, at + 4)
    behind = len(tail) - at - END_SIZE - comment
    if behind < 0:
        raise refused("truncated", what="its comment is cut")
    if behind > 0:
        raise refused("trailing_data", what=amount(behind))
    end = size - span + at
    if END64_PLACE in tail[max(0, at - 20) : at]:
        entries, directory, offset, end = _end64(file, end)
    elif disk or start_disk or here != entries:
        raise refused("multi_volume")
    if entries > limits.entries:
        raise refused("too_many_entries", what=f"{entries:,}", limit=f"{limits.entries:,}")
    if directory > limits.directory:
        raise refused("directory_too_large", what=amount(directory))
    if offset + directory > end:
        raise refused("truncated", what="its directory lies beyond its end")
    if offset + directory < end:
        raise refused("leading_data", what=amount(end - offset - directory))


def _end64(file: BinaryIO, end: int) -> tuple[int, int, int, int]:
    file.seek(max(0, end - 20))
    place = file.read(20)
    try:
        _, _, at, disks = struct.unpack("<4sIQI", place)
        file.seek(min(at, 1 << 60))
        record = struct.unpack("<4sQ2H2I4Q", file.read(56))
    except (struct.error, OSError, OverflowError) as error:
        raise refused("damaged", what="the zip64 record cannot be read") from error
    if record[0] != b"PK\x06\x06":
        raise refused("damaged", what="the zip64 record is not where it should be")
    if disks > 1:
        raise refused("multi_volume")
    return record[7], record[8], record[9], at


def _entry_names(infos: list[zipfile.ZipInfo], notes: list[str]) -> list[tuple[zipfile.ZipInfo, str]]:
    """Names as text with `/`. Without the UTF-8 flag: UTF-8 if it is that, else code page 437."""
    named = [(info, _name(info, notes)) for info in infos]
    slashes = any("/" in name for _, name in named)
    if not slashes and any("\\" in name for _, name in named):
        notes.append("Its names had backslashes for separators, as Windows writes them.")
        return [(info, name.replace("\\", "/")) for info, name in named]
    return named


def _name(info: zipfile.ZipInfo, notes: list[str]) -> str:
    name = info.orig_filename
    if info.flag_bits & UTF8:
        return name
    try:
        plain = name.encode("cp437").decode("utf-8")
    except UnicodeDecodeError:
        note = "Some names were not UTF-8: read as code page 437."
        if note not in notes:
            notes.append(note)
        return name
    except UnicodeEncodeError:
        return name
    return plain


def _directory_judge(opened: zipfile.ZipFile, names: list[tuple[zipfile.ZipInfo, str]], quarantine: Quarantine) -> None:
    total = 0
    limits = quarantine.limits
    for info, name in names:
        if info.flag_bits & 0x2041:
            raise refused("encrypted", name=name)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise refused("method", name=name, what=str(info.compress_type))
        kind = ZIP_KINDS.get(stat.S_IFMT(info.external_attr >> 16)) if info.create_system == 3 else None
        if kind is not None:
            raise refused(kind, name=name, what=_target(opened, info) if kind == "link" else "")
        total += info.file_size
        if info.file_size > limits.file:
            raise refused("file_too_large", name=name, limit=amount(limits.file))
        if total > limits.total:
            raise refused("too_large", limit=amount(limits.total))
        quarantine.ratio(name, info.file_size, info.compress_size)


def _target(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    try:
        with opened.open(info) as file:
            return file.read(200).decode("utf-8", "replace")
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, EOFError):
        return "something"


def _layout_judge(file: BinaryIO, opened: zipfile.ZipFile, names: list[tuple[zipfile.ZipInfo, str]]) -> dict[int, int]:
    """Where each entry's bytes begin, by its header's place.

    Every entry has bytes of its own, and its own header says the name that the directory says.
    """
    places: dict[int, int] = {}
    last_end, last_name = 0, ""
    for info, name in sorted(names, key=lambda each: each[0].header_offset):
        start = info.header_offset
        if start < last_end:
            raise refused("overlap", name=name if name != last_name else last_name)
        file.seek(start)
        data = file.read(LOCAL.size)
        if len(data) < LOCAL.size or data[:4] != b"PK\x03\x04":
            raise refused("outside", name=name)
        fields = LOCAL.unpack(data)
        own = file.read(fields[9])
        if fields[2] & 0x2041:
            raise refused("encrypted", name=name)
        if own != _raw_name(info):
            raise refused("header_mismatch", name=own.decode("utf-8", "backslashreplace"), what=name)
        places[start] = start + LOCAL.size + fields[9] + fields[10]
        last_end = places[start] + info.compress_size
        last_name = name
        if last_end > opened.start_dir:
            raise refused("outside", name=name)
    first = min((info.header_offset for info, _ in names), default=0)
    if first > 0:
        raise refused("leading_data", what=amount(first))
    return places


def _raw_name(info: zipfile.ZipInfo) -> bytes:
    encoding = "utf-8" if info.flag_bits & UTF8 else "cp437"
    return info.orig_filename.encode(encoding, "surrogateescape")


def _contents(file: BinaryIO, place: int, info: zipfile.ZipInfo, name: str) -> Iterator[bytes]:
    """The entry's contents to the end of its packed bytes, whatever length it names."""
    file.seek(place)
    packed, crc, size = info.compress_size, 0, 0
    unpacker = zlib.decompressobj(-15) if info.compress_type == zipfile.ZIP_DEFLATED else None
    while packed or (unpacker is not None and unpacker.unconsumed_tail):
        data = unpacker.unconsumed_tail if unpacker is not None else b""
        if not data:
            data = file.read(min(PIECE, packed))
            packed -= len(data)
        if not data:
            raise refused("truncated", what=f"{name} is cut")
        block = data if unpacker is None else _inflated(unpacker, data, name)
        crc, size = zlib.crc32(block, crc), size + len(block)
        yield block
        if unpacker is not None and unpacker.eof and (packed or unpacker.unused_data):
            raise refused("damaged", what=f"{name}: bytes stand behind its stream")
    if unpacker is not None and not unpacker.eof:
        raise refused("damaged", what=f"{name}: its stream does not end")
    if size == info.file_size and crc != info.CRC:
        raise refused("checksum", name=name)


def _inflated(unpacker: Any, data: bytes, name: str) -> bytes:
    try:
        return bytes(unpacker.decompress(data, PIECE))
    except zlib.error as error:
        raise refused("damaged", what=f"{name}: {error}") from error
