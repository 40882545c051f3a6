"""Overlap of texts with held-out items by word n-grams.

The measure of Brown et al. 2020 (arXiv:2005.14165, appendix C): words in lower case without punctuation, n = 13; of an
item the share of its n-grams that a file holds. What the visible data share with the held-out does not count.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import BinaryIO

SIZE = 13
SHORTEST = 8
"""Words of a text that can be told from others: one of 8 to 12 words is one n-gram of all its words."""
NEAR = 0.5
"""The share from which an item counts as found."""
BLOCK = 1 << 20
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nrt])")
TOKEN = re.compile(r"[^\W_]+")


@dataclass
class Found:
    """Held-out items in one file."""

    path: str
    items: int
    """Whose n-grams are there to `NEAR` or more."""
    whole: int
    """Of them, those that are there to the last n-gram."""
    first_line: int
    """Where the first n-gram of any of them ends."""


@dataclass
class Index:
    """N-grams of held-out items. `sizes` are the lengths of n-grams that occur."""

    grams: dict[int, list[int]] = field(default_factory=dict)
    """Hash → items."""
    counts: list[int] = field(default_factory=list)
    """Distinct n-grams of each item."""
    sizes: set[int] = field(default_factory=set)
    starts: set[tuple[str, str]] = field(default_factory=set)
    """First two words of every n-gram: what is looked at before anything is hashed."""

    @property
    def items(self) -> int:
        return sum(count > 0 for count in self.counts)


def index_of(items: Iterable[Iterable[str]], visible: Iterable[Iterable[str]] = ()) -> Index:
    """N-grams of `items`, each given as its texts, that no `visible` one has. About 100 bytes of memory an n-gram."""
    index = Index()
    for number, texts in enumerate(items):
        grams: set[int] = set()
        for words in map(tokens, texts):
            size = min(SIZE, len(words))
            if size >= SHORTEST:
                index.sizes.add(size)
                index.starts.update(pairwise(words))
                grams.update(_grams(words, size))
        index.counts.append(len(grams))
        for gram in grams:
            index.grams.setdefault(gram, []).append(number)
    for words in (tokens(text) for texts in visible for text in texts):
        for size in index.sizes:
            for gram, _ in _known_grams(words, size, index):
                for number in index.grams.pop(gram, ()):
                    index.counts[number] -= 1
    return index


def tokens(text: str) -> list[str]:
    return TOKEN.findall(text.lower())


def overlap_in(file: BinaryIO, path: str, index: Index, *, limit: int) -> Found | None:
    """Which items the first `limit` bytes of a file hold; None when it holds none. Raises: OSError."""
    hits: dict[int, set[int]] = {}
    first_line = 0
    for line, words in _windows(file, limit):
        for size in index.sizes:
            for gram, _ in _known_grams(words, size, index):
                first_line = first_line or line
                for number in index.grams[gram]:
                    hits.setdefault(number, set()).add(gram)
    shares = [len(grams) / index.counts[number] for number, grams in hits.items() if index.counts[number]]
    near = [share for share in shares if share >= NEAR]
    return Found(path, len(near), sum(share >= 1 for share in near), first_line) if near else None


def _windows(file: BinaryIO, limit: int) -> Iterator[tuple[int, list[str]]]:
    """Words of a block and the last words of the block before, with the line that the block begins in.

    Escapes of JSON stand for what they mean.
    """
    before: list[str] = []
    line, done, rest = 1, 0, b""
    while done < limit and (data := file.read(min(BLOCK, limit - done))):
        done += len(data)
        block = rest + data
        cut = max(block.rfind(b"\n"), block.rfind(b" ")) + 1 or len(block)
        rest, block = block[cut:], block[:cut]
        words = tokens(_plain_text(block))
        yield line, before + words
        before = (before + words)[-(SIZE - 1) :]
        line += block.count(b"\n")
    if rest:
        yield line, before + tokens(_plain_text(rest))


def _plain_text(block: bytes) -> str:
    text = block.decode("utf-8", "replace")
    if "\\" in text:
        text = ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else " ", text)
    return text


def _grams(words: list[str], size: int) -> Iterator[int]:
    for at in range(len(words) - size + 1):
        yield hash(tuple(words[at : at + size]))


def _known_grams(words: list[str], size: int, index: Index) -> Iterator[tuple[int, int]]:
    """N-grams of `words` that are in the index, and where they begin."""
    starts, grams = index.starts, index.grams
    last = len(words) - size
    for at, pair in enumerate(pairwise(words)):
        if at > last:
            return
        if pair in starts:
            gram = hash(tuple(words[at : at + size]))
            if gram in grams:
                yield gram, at
