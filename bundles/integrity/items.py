"""Held-out items as texts, from a task's prepared folder, whatever its files are called."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

ITEM_FILES = (".jsonl", ".json", ".jsonl.gz")
ITEMS_MOST = 50_000
LINE_MOST = 4 << 20
"""Bytes."""
WORKED = ("examples",)
"""Files of worked examples: they are of the visible part."""


def items_of(folder: Path) -> Iterator[list[str]]:
    """The texts of each row: a question, an answer. Rows that are no JSON are passed over. Raises: OSError."""
    count = 0
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or not path.name.endswith(ITEM_FILES) or path.name.split(".")[0] in WORKED:
            continue
        for row in _rows(path):
            count += 1
            if count > ITEMS_MOST:
                return
            yield list(_texts(row))


def _rows(path: Path) -> Iterator[Any]:
    with _opened(path) as file:
        if path.name.endswith(".json"):
            value = _parsed(file.read(64 << 20))
            yield from value if isinstance(value, list) else [value]
            return
        while line := file.readline(LINE_MOST):
            yield _parsed(line)


def _opened(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb"))


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _texts(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            pending.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            pending.extend(reversed(item))
