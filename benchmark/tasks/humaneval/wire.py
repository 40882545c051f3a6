"""Messages between the judge and an untrusted candidate: length-prefixed JSON on a socket, values as plain data.

Whatever a candidate returns reaches the judge as JSON and is rebuilt there from exact builtin types, so no method of
a candidate's object ever runs in the judge.
"""

import json
import os
import select
import struct
import time
from collections.abc import Callable, Iterable
from typing import Any

MAX_BYTES = 4 << 20
LENGTH = struct.Struct("!I")
WIDE_BITS = 1024
"""Integers from this size on travel as hexadecimal digits: decimal ones are slow, and limited by Python."""


class Closed(Exception):
    """The other side ended or closed its socket."""


class Garbled(Exception):
    """Not a message: too long, not JSON, or not plain data."""


class NotPlain(Exception):
    """A value that is no plain data; the message is its type's name."""


class Channel:
    """One end of the socket `fd`. With a `deadline` (of `time.monotonic`) every operation may raise TimeoutError."""

    def __init__(self, fd: int, deadline: float | None = None) -> None:
        self._fd = fd
        self._deadline = deadline
        if deadline is not None:
            os.set_blocking(fd, False)

    def send(self, message: Any) -> None:
        """Raises: Closed, TimeoutError."""
        body = json.dumps(message).encode()
        rest = memoryview(LENGTH.pack(len(body)) + body)
        while rest:
            self._await(select.POLLOUT)
            try:
                rest = rest[os.write(self._fd, rest) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed from error

    def receive(self) -> Any:
        """Raises: Closed, Garbled, TimeoutError."""
        (length,) = LENGTH.unpack(self._read(LENGTH.size))
        if length > MAX_BYTES:
            raise Garbled(f"a message of {length} bytes")
        try:
            return json.loads(self._read(length))
        except (ValueError, RecursionError) as error:
            raise Garbled("not JSON") from error

    def _read(self, length: int) -> bytes:
        block = bytearray()
        while len(block) < length:
            self._await(select.POLLIN)
            try:
                piece = os.read(self._fd, length - len(block))
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed from error
            if not piece:
                raise Closed
            block += piece
        return bytes(block)

    def _await(self, event: int) -> None:
        if self._deadline is None:
            return
        poll = select.poll()
        poll.register(self._fd, event)
        left = self._deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            raise TimeoutError


def encode(value: object) -> Any:
    """JSON for a builtin value, its subclasses reduced to it (`Counter` becomes `dict`). Raises: NotPlain."""
    if value is None or isinstance(value, bool):
        return value
    for kind, encoder in ENCODERS.items():
        if isinstance(value, kind):
            return encoder(value)
    raise NotPlain(type(value).__name__)


def _encode_int(value: int) -> Any:
    whole = int.__add__(value, 0)
    return whole if whole.bit_length() < WIDE_BITS else ["int", f"{whole:x}"]


def _encode_each(values: Iterable[object]) -> list[Any]:
    return [encode(each) for each in values]


# Methods of the builtin types themselves, so that an honest subclass loses its own.
ENCODERS: dict[type, Callable[[Any], Any]] = {
    int: _encode_int,
    float: float.__float__,
    str: str.__str__,
    complex: lambda value: ["complex", [value.real, value.imag]],
    bytes: lambda value: ["bytes", bytes.hex(value)],
    bytearray: lambda value: ["bytearray", bytearray.hex(value)],
    list: lambda value: ["list", _encode_each(list.__iter__(value))],
    tuple: lambda value: ["tuple", _encode_each(tuple.__iter__(value))],
    set: lambda value: ["set", _encode_each(set.__iter__(value))],
    frozenset: lambda value: ["frozenset", _encode_each(frozenset.__iter__(value))],
    dict: lambda value: ["dict", [_encode_each(pair) for pair in dict.items(value)]],
}
DECODERS: dict[str, Callable[[Any], Any]] = {
    "int": lambda data: int(data, 16),
    "complex": lambda data: complex(*data),
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "list": lambda data: [decode(each) for each in data],
    "tuple": lambda data: tuple(decode(each) for each in data),
    "set": lambda data: {decode(each) for each in data},
    "frozenset": lambda data: frozenset(decode(each) for each in data),
    "dict": lambda data: {decode(key): decode(each) for key, each in data},
}


def decode(data: Any) -> Any:
    """The value of `encode`'s JSON, of exact builtin types throughout. Raises: Garbled."""
    if data is None or isinstance(data, bool | int | float | str):
        return data
    try:
        kind, content = list(data)
        return DECODERS[kind](content)
    except (TypeError, ValueError, KeyError, RecursionError) as error:
        raise Garbled("not plain data") from error
