"""The platform's masking with the standard library alone: the same shapes, found literal by literal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from benchmark.secret_shapes import (
    BOUNDED,
    CONTEXT,
    LONGEST,
    NAMED,
    NAMES,
    RULES,
    VALUE,
    replaced,
    within_word,
    written_forms,
)

MASKED_BLOCK = 4 << 20
NOBODY = b"someone@example.org"
EMAIL = re.compile(
    rb"(?<![A-Za-z0-9._%+/:@-])(?!git@|someone@example\.org)[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}"
    rb"@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![A-Za-z0-9-])"
)
SECRET_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?$", re.IGNORECASE)
SECRET_LEAST = 12
"""Characters of a variable's value that is taken for a secret."""


class PlainMasker:
    """See `benchmark.masking.Masker`: what both make of a text is the same."""

    def __init__(self, secrets: Iterable[str] = (), *, hide_emails: bool = False) -> None:
        self._hide_emails = hide_emails
        self._given = written_forms(secrets)
        self._shapes = list(_expressions())

    def spans(self, data: bytes, before: bytes = b"") -> list[tuple[int, int]]:
        """Where secrets lie, in order and apart from each other."""
        apart: list[tuple[int, int]] = []
        for start, end in sorted([*self._of_shape(data, before), *self._of_value(data)]):
            if apart and start < apart[-1][1]:
                apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
            else:
                apart.append((start, end))
        return apart

    def _of_shape(self, data: bytes, before: bytes) -> Iterator[tuple[int, int]]:
        for literal, bounded, expression in self._shapes:
            for start in _places(data, literal):
                if bounded and within_word(data[max(0, start - CONTEXT) : start] if start else before):
                    continue
                match = expression.match(data, start)
                if match:
                    yield match.span(match.lastindex or 0)

    def _of_value(self, data: bytes) -> Iterator[tuple[int, int]]:
        for value in self._given:
            for start in _places(data, value):
                yield start, start + len(value)

    def stream(self, file: BinaryIO) -> Iterator[tuple[bytes, dict[str, int]]]:
        """The file's bytes, masked, in pieces, and how many of each kind were masked in it. Raises: OSError."""
        rest, before = b"", b""
        while True:
            data = file.read(MASKED_BLOCK)
            block = rest + data
            cut = len(block) if not data else block.rfind(b"\n") + 1 or max(0, len(block) - LONGEST)
            spans = self.spans(block, before)
            cut = min([cut, *(start for start, end in spans if start < cut < end)])
            inside = [span for span in spans if span[1] <= cut]
            if cut:
                before = block[max(0, cut - CONTEXT) : cut]
                yield self._without_emails(replaced(block[:cut], inside), len(inside))
            rest = block[cut:]
            if not data:
                return

    def text(self, text: str) -> str:
        """A short text without secrets."""
        data = text.encode("utf-8", "replace")
        return replaced(data, self.spans(data)).decode("utf-8", "replace")

    def _without_emails(self, data: bytes, secrets: int) -> tuple[bytes, dict[str, int]]:
        if not self._hide_emails:
            return data, {"secret": secrets}
        data, count = EMAIL.subn(NOBODY, data)
        return data, {"secret": secrets, "e-mail": count}


def _places(data: bytes, literal: bytes) -> Iterator[int]:
    start = data.find(literal)
    while start >= 0:
        yield start
        start = data.find(literal, start + 1)


def _expressions() -> Iterator[tuple[bytes, bool, re.Pattern[bytes]]]:
    for names, rule in RULES:
        for name in names:
            yield name.encode(), names in BOUNDED, _compiled(rule)
    for name in NAMES:
        yield name.encode(), False, _compiled(re.escape(name.encode()) + NAMED + VALUE)


def _compiled(rule: bytes) -> re.Pattern[bytes]:
    """Python before 3.11 knows no possessive quantifiers; without them the same is matched, more slowly."""
    return re.compile(rule if sys.version_info >= (3, 11) else rule.replace(b"}+", b"}"))


def environment_secrets() -> list[str]:
    """Values of this machine's variables that are named like secrets."""
    named = (value for name, value in os.environ.items() if SECRET_NAMES.search(name))
    return sorted({value for value in named if len(value) >= SECRET_LEAST})
