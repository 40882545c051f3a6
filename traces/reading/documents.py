"""Taking one JSON document apart while it arrives: each value of interest with its path, line and byte offset.

Only structure is looked at (strings, brackets, separators); values are decoded by who needs them. Memory is one value.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Path = tuple[str | int, ...]
_SPACE = re.compile(rb"[\s,]*")
_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,\]}\[{\"]*+")
_STRUCTURE = re.compile(rb'["\[\]{}]')
_CLOSING = {0x7B: 0x7D, 0x5B: 0x5D}
KEY_LIMIT = 4096


class Broken(Exception):
    """The bytes from `at` on do not continue the document."""

    def __init__(self, at: int) -> None:
        super().__init__(f"not JSON at byte {at}")
        self.at = at


@dataclass(slots=True)
class Leaf:
    """A value as bytes; `closed`: the container at `path` ended; `part`: one piece of a value over the limit."""

    path: Path
    offset: int
    line: int
    data: bytes
    closed: bool = False
    part: bool = False


@dataclass(slots=True)
class _Open:
    path: Path
    closing: int
    index: int = 0
    key: str | None = None


@dataclass
class DocumentSplitter:
    """Feed bytes from the document's first on. `done` after its end: `rest` is what follows.

    Raises: Broken: see there; `position` and `rest` tell where to go on.
    """

    opens: Callable[[Path], bool]
    offset: int
    line: int
    limit: int
    done: bool = False
    _buffer: bytearray = field(default_factory=bytearray)
    _at: int = 0
    _stack: list[_Open] = field(default_factory=list)
    _value_start: int | None = None
    _value_path: Path = ()
    _depth: int = 0
    _in_string: bool = False
    _in_scalar: bool = False
    _oversized: bool = False

    @property
    def rest(self) -> bytes:
        return bytes(self._buffer[self._at :])

    def settle(self) -> None:
        """Forget what was read, so that `offset`, `line` and `rest` say where to go on."""
        self._drop(self._value_start if self._value_start is not None else self._at)
        self._at = 0

    def pending(self) -> Leaf | None:
        """What was read of a value that has not ended."""
        start = self._value_start if self._value_start is not None else self._at
        data = bytes(self._buffer[start:])
        if not data.strip():
            return None
        self._drop(start)
        return Leaf(self._value_path, self.offset, self.line, data)

    def feed(self, data: bytes) -> Iterator[Leaf]:
        self._buffer += data
        while not self.done:
            leaf = self._in_value() if self._value_start is not None else self._between()
            if leaf is None:
                break
            if leaf is not _NOTHING:
                yield leaf
        if self._value_start is None:
            self._drop(self._at)
        elif len(self._buffer) - self._value_start > self.limit:
            yield self._piece()

    def _between(self) -> Leaf | None:
        """From one value's end to the next one's start. None: more bytes are needed."""
        found = _SPACE.match(self._buffer, self._at)
        self._at = found.end() if found else self._at
        if self._at >= len(self._buffer):
            return None
        byte = self._buffer[self._at]
        top = self._stack[-1] if self._stack else None
        if top is None:
            return self._begin((), byte)
        if byte == top.closing and top.key is None:
            self._at += 1
            self._stack.pop()
            self.done = not self._stack
            self._drop(self._at)
            return Leaf(top.path, self.offset, self.line, b"", closed=True)
        if top.closing == 0x7D and top.key is None:
            return self._read_key(top)
        path = (*top.path, top.key if top.key is not None else top.index)
        top.index, top.key = top.index + 1, None
        return self._begin(path, byte)

    def _read_key(self, top: _Open) -> Leaf | None:
        if self._buffer[self._at] != 0x22:
            raise Broken(self.offset + self._at)
        string = _STRING.match(self._buffer, self._at + 1)
        end = string.end() if string else self._at
        colon = re.compile(rb"\s*").match(self._buffer, end + 1)
        place = colon.end() if colon else end
        if place >= len(self._buffer):
            if len(self._buffer) - self._at > KEY_LIMIT:
                raise Broken(self.offset + self._at)
            return None
        if self._buffer[end] != 0x22 or self._buffer[place] != 0x3A:
            raise Broken(self.offset + self._at)
        try:
            top.key = str(json.loads(bytes(self._buffer[self._at : end + 1]), strict=False))
        except ValueError as error:
            raise Broken(self.offset + self._at) from error
        self._at = place + 1
        return _NOTHING

    def _begin(self, path: Path, byte: int) -> Leaf | None:
        if byte in _CLOSING and self.opens(path):
            self._stack.append(_Open(path, _CLOSING[byte]))
            self._at += 1
            return _NOTHING
        if byte in b"]}:" or not self._stack:
            raise Broken(self.offset + self._at)
        self._value_start, self._value_path = self._at, path
        self._depth = 1 if byte in _CLOSING else 0
        self._in_string, self._in_scalar = byte == 0x22, byte not in b'[{"'
        self._at += not self._in_scalar
        return _NOTHING

    def _in_value(self) -> Leaf | None:
        buffer = self._buffer
        while True:
            if self._in_scalar:
                found = _SCALAR.match(buffer, self._at)
                self._at = found.end() if found else self._at
                return self._end() if self._at < len(buffer) else None
            if self._in_string:
                found = _STRING.match(buffer, self._at)
                self._at = found.end() if found else self._at
                if self._at >= len(buffer) or buffer[self._at] != 0x22:
                    return None
                self._at += 1
                self._in_string = False
                if self._depth == 0:
                    return self._end()
            found = _STRUCTURE.search(buffer, self._at)
            if found is None:
                self._at = len(buffer)
                return None
            self._at = found.end()
            byte = buffer[found.start()]
            if byte == 0x22:
                self._in_string = True
            else:
                self._depth += 1 if byte in _CLOSING else -1
                if self._depth == 0:
                    return self._end()

    def _end(self) -> Leaf:
        start = self._value_start or 0
        data = bytes(self._buffer[start : self._at])
        self._drop(start)
        leaf = Leaf(self._value_path, self.offset, self.line, data, part=self._oversized)
        self._drop(len(data))
        self._value_start, self._oversized, self._in_scalar = None, False, False
        return leaf

    def _piece(self) -> Leaf:
        start = self._value_start or 0
        data = bytes(self._buffer[start : self._at])
        self._drop(start)
        leaf = Leaf(self._value_path, self.offset, self.line, data, part=True)
        self._drop(len(data))
        self._value_start, self._oversized = 0, True
        return leaf

    def _drop(self, count: int) -> None:
        """Forget the first `count` bytes of the buffer."""
        if count:
            self.line += self._buffer.count(b"\n", 0, count)
            del self._buffer[:count]
            self.offset += count
            self._at -= count
            if self._value_start is not None:
                self._value_start -= count


_NOTHING = Leaf((), 0, 0, b"")
