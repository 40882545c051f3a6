"""Tars, plain or compressed, read once from front to end: no header is believed to be of a bearable size."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from bundles.unpacking.limits import PIECE, Limits
from bundles.unpacking.quarantine import Quarantine, kind_of
from bundles.unpacking.refusal import amount, refused

SECTOR = 512
TAR_KINDS = {
    tarfile.LNKTYPE: "hard_link",
    tarfile.SYMTYPE: "link",
    tarfile.CHRTYPE: "device",
    tarfile.BLKTYPE: "device",
    tarfile.FIFOTYPE: "fifo",
    tarfile.GNUTYPE_SPARSE: "sparse",
}
REGULAR = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
PAX_PATH = "path"


class Unpacker(Protocol):
    """A decompressor of the standard library's shape."""

    eof: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


def tar_unpack(archive: Path, kind: str, quarantine: Quarantine, notes: list[str]) -> None:
    """`kind` is tar, gzip or zstd. Raises: Refused; OSError."""
    with archive.open("rb") as file:
        stream = _Stream(file, kind, quarantine)
        waiting: dict[str, Any] = {}
        while (sector := stream.take(SECTOR)) and sector.strip(b"\0"):
            _entry(stream, sector, quarantine, waiting)
        if not sector:
            raise refused("truncated", what="its end mark is missing")
        stream.finish()


def _entry(stream: _Stream, sector: bytes, quarantine: Quarantine, waiting: dict[str, Any]) -> None:
    if len(sector) < SECTOR:
        raise refused("truncated", what="a header is cut")
    try:
        info = tarfile.TarInfo.frombuf(sector, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        raise refused("damaged", what=f"a header, {error}") from error
    if info.type in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE):
        _extended(stream, info, quarantine.limits, waiting)
        return
    if info.type in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
        data = _header_data(stream, info, quarantine.limits)
        key = "name" if info.type == tarfile.GNUTYPE_LONGNAME else "link"
        waiting[key] = data.rstrip(b"\0").decode("utf-8", "surrogateescape")
        return
    name, size = waiting.pop("name", info.name), waiting.pop("size", info.size)
    target = waiting.pop("link", info.linkname)
    name = name[2:] if name.startswith("./") and len(name) > 2 else name
    if info.type in TAR_KINDS or waiting.pop("sparse", False):
        raise refused(TAR_KINDS.get(info.type, "sparse"), name=name, what=target)
    if info.type not in (*REGULAR, tarfile.DIRTYPE):
        raise refused("special", name=name, what=repr(info.type.decode("latin-1")))
    is_folder = info.type == tarfile.DIRTYPE or name.endswith("/")
    if name in (".", "./"):
        return
    if quarantine.admit(name, is_folder):
        _regular(stream, name, size, quarantine)
    else:
        for _ in stream.blocks(0 if is_folder else size):
            pass


def _regular(stream: _Stream, name: str, size: int, quarantine: Quarantine) -> None:
    limits = quarantine.limits
    if size < 0:
        raise refused("damaged", what=f"{name} has a negative size")
    if size > limits.file:
        raise refused("file_too_large", name=name, limit=amount(limits.file))
    quarantine.write(name, stream.blocks(size), size, None)


def _header_data(stream: _Stream, info: tarfile.TarInfo, limits: Limits) -> bytes:
    if not 0 <= info.size <= limits.header:
        raise refused("header_too_large", what=amount(max(0, info.size)))
    data = b"".join(stream.blocks(info.size))
    if len(data) < info.size:
        raise refused("truncated", what="an extended header is cut")
    return data


def _extended(stream: _Stream, info: tarfile.TarInfo, limits: Limits, waiting: dict[str, Any]) -> None:
    """Of pax headers the path, the size and the link's target count; one for all entries must not set them."""
    told = dict(_pax(_header_data(stream, info, limits)))
    if info.type == tarfile.XGLTYPE:
        if {PAX_PATH, "size", "linkpath"} & told.keys():
            raise refused("special", name="a header for all entries", what="global path")
        return
    if PAX_PATH in told:
        waiting["name"] = told[PAX_PATH]
    if "linkpath" in told:
        waiting["link"] = told["linkpath"]
    if "size" in told:
        if not told["size"].isdecimal() or len(told["size"]) > 19:
            raise refused("damaged", what="a size of an extended header is no number")
        waiting["size"] = int(told["size"])
    if any(key.startswith("GNU.sparse") for key in told):
        waiting["sparse"] = True


def _pax(data: bytes) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(data):
        blank = data.find(b" ", at, at + 20)
        length = data[at:blank] if blank > 0 else b""
        if not length.isdigit() or not 0 < int(length) <= len(data) - at:
            raise refused("damaged", what="an extended header cannot be read")
        key, _, value = data[blank + 1 : at + int(length) - 1].partition(b"=")
        yield key.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape")
        at += int(length)


class _Stream:
    """The tar's bytes, decompressed as they are asked for."""

    def __init__(self, file: BinaryIO, kind: str, quarantine: Quarantine) -> None:
        self._file = file
        self._quarantine = quarantine
        self._make = _maker(kind, quarantine.limits)
        self._unpacker: Unpacker | None = self._make() if self._make else None
        self._ready = b""
        self._packed = 0
        self._unpacked = 0
        self._ended = False
        self._kind = kind
        self._left = b""
        self._rest = b""

    def take(self, size: int) -> bytes:
        """`size` bytes, fewer only at the end."""
        parts, wanted = [], size
        while wanted and (self._ready or self._more()):
            part, self._ready = self._ready[:wanted], self._ready[wanted:]
            parts.append(part)
            wanted -= len(part)
        return b"".join(parts)

    def blocks(self, size: int) -> Iterator[bytes]:
        """`size` bytes in pieces, and the padding behind them passed over."""
        rest = size
        while rest and (block := self.take(min(PIECE, rest))):
            rest -= len(block)
            yield block
        if not rest and size % SECTOR:
            self.take(SECTOR - size % SECTOR)

    def finish(self) -> None:
        """Behind the end mark only padding is allowed, and the compressed stream must be whole."""
        rest = 0
        while block := self.take(PIECE):
            rest += len(block)
            if block.strip(b"\0") or rest > 64 << 20:
                raise refused("trailing_data", what="Bytes")
        if self._unpacker is not None and not self._ended:
            raise refused("truncated", what="the compressed stream is cut")
        if self._rest.strip(b"\0") or (self._unpacker is not None and self._file.read(1)):
            raise refused("trailing_data", what="Bytes")

    def _more(self) -> bool:
        if self._unpacker is None:
            self._ready = self._file.read(PIECE)
            return bool(self._ready)
        while not self._ready and not self._ended:
            data = b"" if not getattr(self._unpacker, "needs_input", True) else self._read()
            if data is None:
                return False
            self._ready = self._decompressed(data)
            if self._unpacker.eof:
                self._next_frame()
        self._unpacked += len(self._ready)
        self._quarantine.ratio("The compressed stream", self._unpacked, self._packed)
        return bool(self._ready)

    def _next_frame(self) -> None:
        """A compressed file may be several streams one after another."""
        assert self._unpacker is not None
        assert self._make is not None
        rest = self._unpacker.unused_data or self._file.read(64 << 10)
        if rest[:4] and kind_of(rest[:4]) == self._kind:
            self._unpacker, self._left = self._make(), rest
            return
        self._ended, self._rest = True, rest

    def _read(self) -> bytes | None:
        if self._left:
            left, self._left = self._left, b""
            return left
        tail = getattr(self._unpacker, "unconsumed_tail", b"")
        data = tail or self._file.read(64 << 10)
        self._packed += 0 if tail else len(data)
        return data or None

    def _decompressed(self, data: bytes) -> bytes:
        assert self._unpacker is not None
        try:
            return self._unpacker.decompress(data, PIECE)
        except (zlib.error, EOFError, OSError, ValueError) as error:
            raise refused("damaged", what=str(error)) from error
        except Exception as error:
            if type(error).__name__ != "ZstdError":
                raise
            if "memory" in str(error).lower() or "window" in str(error).lower():
                limit = amount(1 << self._quarantine.limits.window_log)
                raise refused("zstd_window", limit=limit) from error
            raise refused("damaged", what=str(error)) from error


def _maker(kind: str, limits: Limits) -> Callable[[], Any] | None:
    if kind == "gzip":
        return lambda: zlib.decompressobj(31)
    if kind == "zstd":
        module = zstd_module()
        options = {module.DecompressionParameter.window_log_max: limits.window_log}
        return lambda: module.ZstdDecompressor(options=options)
    return None


def zstd_module() -> Any:
    """Python's own since 3.14, its backport before. Raises: Refused: neither is here."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return __import__(name, fromlist=["ZstdDecompressor"])
        except ImportError:
            continue
    raise refused("no_zstd")
