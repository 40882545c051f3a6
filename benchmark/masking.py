"""Secrets out of text before anything is stored: provider keys, tokens, headers, private keys, and named values.

One place for all rooms. Works on bytes, so that a transcript need not be decoded; what it writes keeps JSON valid.
A set of literals is looked for first (Aho-Corasick, hundreds of MB/s); a rule's expression runs only where its
literal stands. No match crosses a line end, none is longer than `LONGEST` bytes.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from ahocorasick_rs import BytesAhoCorasick

from benchmark.secret_shapes import (
    BOUNDED,
    CONTEXT,
    LONGEST,
    MASK,
    NAMED,
    NAMES,
    RULES,
    SHORTEST_SECRET,
    VALUE,
    replaced,
    within_word,
    written_forms,
)

__all__ = ["CONTEXT", "LONGEST", "MASK", "SHORTEST_SECRET", "Masker", "mask_text", "replaced"]


class Masker:
    """Masks known shapes of secrets, and `secrets`: values that the caller knows.

    Raises: ValueError: a given secret shorter than `SHORTEST_SECRET` characters, which would tear ordinary text.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.count = 0
        """Secrets masked so far."""
        self._shapes, self._literals = _shapes()
        self._given = written_forms(secrets)
        self._values = BytesAhoCorasick(self._given) if self._given else None

    def mask(self, data: bytes, before: bytes = b"") -> bytes:
        """`data` with every secret replaced; `before` is what stands in front of it, `CONTEXT` bytes."""
        spans = self.spans(data, before)
        self.count += len(spans)
        return replaced(data, spans)

    def spans(self, data: bytes, before: bytes = b"") -> list[tuple[int, int]]:
        """Where secrets lie, in order and apart from each other."""
        found = sorted([*self._of_shape(data, before), *self._of_value(data)])
        apart: list[tuple[int, int]] = []
        for start, end in found:
            if apart and start < apart[-1][1]:
                apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
            else:
                apart.append((start, end))
        return apart

    def _of_shape(self, data: bytes, before: bytes) -> Iterator[tuple[int, int]]:
        for which, start, _ in self._shapes.find_matches_as_indexes(data):
            bounded, expression = self._literals[which]
            if bounded and within_word(data[max(0, start - CONTEXT) : start] if start else before):
                continue
            if match := expression.match(data, start):
                yield match.span(match.lastindex or 0)

    def _of_value(self, data: bytes) -> Iterator[tuple[int, int]]:
        if self._values is not None:
            for which, start, _ in self._values.find_matches_as_indexes(data):
                yield start, start + len(self._given[which])


def mask_text(text: str, masker: Masker | None = None) -> str:
    """The same for a string."""
    return (masker or _shared()).mask(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


@cache
def _shapes() -> tuple[BytesAhoCorasick, list[tuple[bool, re.Pattern[bytes]]]]:
    """All literals, and for each whether it must begin a word, and its expression."""
    literals = [(name.encode(), names in BOUNDED, re.compile(rule)) for names, rule in RULES for name in names]
    literals += [(name.encode(), False, re.compile(re.escape(name.encode()) + NAMED + VALUE)) for name in NAMES]
    return BytesAhoCorasick([literal for literal, _, _ in literals]), [(bounded, rule) for _, bounded, rule in literals]


@cache
def _shared() -> Masker:
    return Masker()
