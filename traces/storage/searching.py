"""Finding text in a whole trace: case-folded text of all events in one file, and a trigram filter of each block of it.

    search.txt   folded UTF-8 text of the events in order, each ended by a NUL
    search.idx   one unsigned 64-bit number an event: where its text begins, times 256, plus its kind
    search.bits  one filter a block of BLOCK bytes: a bit a hashed trigram that begins in the block

A block whose filter lacks one of the needle's trigrams cannot hold it and is not read.
"""

import array
import bisect
import mmap
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmark.services.artifacts import artifact_local
from traces.contract import EventKind
from traces.storage.files import GrowingFile

BLOCK = 1 << 18
BITS = 1 << 17
FILTER = BITS // 8
KINDS = tuple(EventKind)
"""A kind's number is its place here: only ever appended to."""
_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
_ESCAPES = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")
LONGEST_NEEDLE = 1000


def folded(text: str) -> bytes:
    """What is compared: without case, terminal colours and NULs."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\x00" in text:
        text = text.replace("\x00", " ")
    return text.casefold().encode("utf-8", "surrogatepass")


def searchable(arguments: Any, depth: int = 0) -> Iterator[str]:
    """The texts within a call's arguments."""
    if isinstance(arguments, str):
        yield arguments
    elif isinstance(arguments, dict) and depth < 20:
        for key, value in arguments.items():
            if isinstance(value, dict | list):
                yield from searchable(value, depth + 1)
            else:
                yield f"{key}: {value}" if not isinstance(value, str) else value
    elif isinstance(arguments, list) and depth < 20:
        for value in arguments:
            yield from searchable(value, depth + 1)
    elif arguments is not None:
        yield str(arguments)


SLICE = 1 << 15
"""Trigrams hashed at a time: what the processor's cache holds."""


def _hashes(data: bytes) -> Iterator[npt.NDArray[np.intp]]:
    """A number below `BITS` for each trigram: of every three neighbouring bytes, read as one number, a product."""
    padded = data + b"\x00"
    count = len(data) - 2
    for start in range(0, count, SLICE):
        window = np.ndarray((min(SLICE, count - start),), dtype="<u4", buffer=padded, offset=start, strides=(1,))
        mixed = (window << np.uint32(8)) * np.uint32(0x9E3779B1)
        yield (mixed >> np.uint32(32 - 17)).astype(np.intp)


def block_filter(data: bytes) -> bytes:
    """The filter of one block; `data` has two bytes of the next one, where there is a next one."""
    bits = np.zeros(BITS, dtype=np.uint8)
    for hashes in _hashes(data):
        bits[hashes] = 1
    return np.packbits(bits).tobytes()


class SearchWriter:
    """Give events in order. Filters follow once a block is full; the block at the end has none until `finish`."""

    def __init__(self, folder: Path, *, texts: int, events: int, filters: int) -> None:
        with ExitStack() as opened:
            self.texts = opened.enter_context(GrowingFile(folder / "search.txt", texts))
            self.index = opened.enter_context(GrowingFile(folder / "search.idx", 8 * events))
            self.filters = opened.enter_context(GrowingFile(folder / "search.bits", filters))
            self._opened = opened.pop_all()
        self._block = bytearray()

    def add(self, kind: EventKind, text: bytes) -> None:
        self.index.write(((self.texts.position << 8) | _NUMBERS[kind]).to_bytes(8, "little"))
        self.texts.write(text)
        self.texts.write(b"\x00")
        self._block += text
        self._block += b"\x00"
        while len(self._block) >= BLOCK + 2:
            self.filters.write(block_filter(bytes(self._block[: BLOCK + 2])))
            del self._block[:BLOCK]

    def finish(self) -> None:
        if self._block:
            self.filters.write(block_filter(bytes(self._block)))
            self._block.clear()

    def flush(self) -> None:
        for file in (self.texts, self.index, self.filters):
            file.flush()

    def close(self) -> None:
        self._opened.close()


@dataclass(frozen=True, slots=True)
class Found:
    """A match, or with an empty excerpt: the time is up, and events up to `seq` have been searched."""

    seq: int
    excerpt: bytes
    """Folded text around the match."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a trace's search files is committed."""

    texts: int
    events: int
    filters: int


def found_in(
    folder: Path, needle: bytes, extent: Extent, *, kinds: frozenset[EventKind], after: int, seconds: float
) -> Iterator[Found]:
    """Events after `after` that hold `needle` (folded), in order, each once, until `seconds` are over.

    Raises: OSError: the files are not there.
    """
    if not needle or len(needle) > LONGEST_NEEDLE or after >= extent.events:
        return
    deadline = time.monotonic() + seconds
    texts, places = (artifact_local(folder / name) for name in ("search.txt", "search.idx"))
    with texts.open("rb") as file, places.open("rb") as index_file:
        index = _Index(index_file.read(8 * extent.events), extent.texts)
        wanted = frozenset(_NUMBERS[kind] for kind in kinds)
        at = index.begin(after + 1)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            for start, end in _spans(folder, needle, at, extent):
                at = max(at, start)
                while at < end and (place := _find(text, needle, at, min(end + len(needle) - 1, extent.texts))) >= 0:
                    seq = index.seq_at(place)
                    if not wanted or index.kind(seq) in wanted:
                        low, high = max(index.begin(seq), place - 80), min(index.end(seq), place + len(needle) + 120)
                        yield Found(seq, text[low:high])
                    at = index.end(seq)
                if time.monotonic() > deadline and end < extent.texts:
                    through = index.seq_at(max(at, end)) - 1
                    if through > after:  # else one long event: go on, so that asking again gets further
                        yield Found(through, b"")
                        return


PIECE = 1 << 20


def _find(text: mmap.mmap, needle: bytes, start: int, end: int) -> int:
    """`mmap.find`, in pieces through `bytes.find`, whose search is the faster one."""
    while start < end:
        place = text[start : min(end, start + PIECE + len(needle) - 1)].find(needle)
        if place >= 0:
            return start + place
        start += PIECE
    return -1


class _Index:
    def __init__(self, data: bytes, size: int) -> None:
        self._entries = array.array("Q", data)
        self._size = size

    def begin(self, seq: int) -> int:
        return self._entries[seq - 1] >> 8

    def end(self, seq: int) -> int:
        """One past the NUL."""
        return self._entries[seq] >> 8 if seq < len(self._entries) else self._size

    def kind(self, seq: int) -> int:
        return self._entries[seq - 1] & 0xFF

    def seq_at(self, place: int) -> int:
        return bisect.bisect_right(self._entries, (place << 8) | 0xFF)


def _spans(folder: Path, needle: bytes, start: int, extent: Extent) -> Iterator[tuple[int, int]]:
    """Where a match may begin, between `start` and `end`: neighbouring blocks joined, at most 4 MB at a time."""
    count, end = extent.filters // FILTER, extent.texts
    first = start // BLOCK
    may = np.ones(max(0, (end + BLOCK - 1) // BLOCK), dtype=bool)
    if count > first and len(needle) > 2:
        rows = np.memmap(artifact_local(folder / "search.bits"), dtype=np.uint8, mode="r", shape=(count, FILTER))
        may[:count] = _possible(rows, needle, first, count)
    at = first
    while at < len(may):
        if not may[at]:
            at += 1
            continue
        last = at + 1
        while last < len(may) and may[last] and last - at < 16:
            last += 1
        yield max(start, at * BLOCK), min(end, last * BLOCK)
        at = last


def _possible(rows: npt.NDArray[np.uint8], needle: bytes, first: int, count: int) -> npt.NDArray[np.bool_]:
    """For each block, whether a match may begin in it: each trigram is in its filter or, running on, in the next."""
    may = np.zeros(count, dtype=bool)
    may[first:] = True
    for number in {int(number) for hashes in _hashes(needle) for number in hashes}:
        column = (rows[first:, number >> 3] >> (7 - (number & 7))) & 1
        here = column.astype(bool)
        here[:-1] |= here[1:].copy()
        here[-1] = True  # what follows the last filter is not known
        may[first:] &= here
    return may
