"""Documents on this machine, searched with BM25: for places without a network, and for tests.

A corpus is a `.jsonl` file, or a folder of such files: one object a line with `title`, `url` and `text`. It is held in
memory. A hit shows the passage of its document that fits the words best.
"""

import hashlib
import json
import textwrap
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from benchmark.tasks.services_contract import Hit
from benchmark.tasks.webshop.webshop_env.index import Index
from grading.outside.provider import Counts

PASSAGE_CHARS = 400
KEYS = ("title", "url", "text")


class BadCorpus(Exception):
    """The corpus cannot be read; the message names the file and the line."""


class Corpus:
    """Implements `Backend`."""

    def __init__(self, path: Path, counts: Counts) -> None:
        """Raises: BadCorpus."""
        self._counts = counts
        files = corpus_files(path)
        digest = _digest(files)
        self.identity = f"corpus:{digest[:16]}"
        self._passages, self._index = _indexed(tuple(files), digest)

    async def search(self, query: str, count: int) -> Sequence[Hit]:
        """Of each document the best passage."""
        self._counts.calls += 1
        found: dict[str, Hit] = {}
        for position, _ in self._index.search(query, len(self._passages)):
            hit = self._passages[position]
            found.setdefault(hit.url, hit)
            if len(found) == count:
                break
        return list(found.values())


def corpus_files(path: Path) -> list[Path]:
    """Raises: BadCorpus: there is no such file, or no `.jsonl` file in the folder."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        raise BadCorpus(f"{path} is neither a file nor a folder with .jsonl files.")
    return files


def _digest(files: Sequence[Path]) -> str:
    told = hashlib.sha256()
    for file in files:
        with file.open("rb") as handle:
            told.update(hashlib.file_digest(handle, "sha256").digest())
    return told.hexdigest()


@lru_cache(maxsize=1)
def _indexed(files: tuple[Path, ...], _digest: str) -> tuple[list[Hit], Index]:
    passages = [passage for file in files for passage in _read(file)]
    return passages, Index([f"{passage.title} {passage.snippet}" for passage in passages])


def _read(file: Path) -> list[Hit]:
    passages = []
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            title, url, text = _document(line, f"{file}, line {number}")
            passages += [Hit(title, url, part) for part in textwrap.wrap(text, PASSAGE_CHARS) or [""]]
    return passages


def _document(line: str, where: str) -> tuple[str, str, str]:
    try:
        row = json.loads(line)
        title, url, text = (row[key] for key in KEYS)
    except (ValueError, KeyError, TypeError) as error:
        raise BadCorpus(f"{where}: a document is a JSON object with {', '.join(KEYS)} ({error!r}).") from error
    if not all(isinstance(value, str) for value in (title, url, text)) or not url:
        raise BadCorpus(f"{where}: {', '.join(KEYS)} must be texts, and url must not be empty.")
    return title, url, text
