"""Held-out items as texts, from a task's prepared folder, whatever its files are called."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

ITEM_FILES = (".jsonl", ".json", ".jsonl.gz")
ITEMS_MOST = 50_000
LINE_MOST = 4 << 20
"""Bytes."""
WORKED = ("examples",)
"""Files of worked examples: they are of the visible part."""


def items_of(folder: Path) -> Iterator[tuple[str, str]]:
    """`file:row` and the row's texts, one after another. Rows that are no JSON are passed over. Raises: OSError."""
    count = 0
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or not path.name.endswith(ITEM_FILES) or path.name.split(".")[0] in WORKED:
            continue
        for number, row in enumerate(_rows(path), 1):
            count += 1
            if count > ITEMS_MOST:
                return
            yield f"{path.relative_to(folder)}:{number}", "\n".join(_texts(row))


def _rows(path: Path) -> Iterator[Any]:
    with _opened(path) as file:
        if path.name.endswith(".json"):
            value = _parsed(file.read(64 << 20))
            yield from value if isinstance(value, list) else [value]
            return
        while line := file.readline(LINE_MOST):
            yield _parsed(line)


def _opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


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
