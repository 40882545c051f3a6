"""Which rows of a per-sample folder are held out.

With `data/test.jsonl`, its rows are; without, rows of `data/train.jsonl`: half of its distinct questions but at most
200, or as many as `config.yaml` says under `held_out`, those whose questions have the smallest SHA-256. Equal questions
always lie on the same side, so none is both visible and held out. Nothing else of `data/` becomes visible.
"""

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmark.tasks.data_contract import DataTarget, DataUnavailable

MOST_HELD_OUT = 200
Row = dict[str, Any]


def split(data: Path, held_out: int | None, target: DataTarget) -> None:
    """Write `visible/train.jsonl` and `held_out/rows.jsonl`. Raises: DataUnavailable."""
    if not (data / "train.jsonl").is_file():
        script = data.parent / "download_data.py"
        hint = f" Run {script} first: it is not run by the platform." if script.is_file() else ""
        raise DataUnavailable(f"{data / 'train.jsonl'} is missing.{hint}")
    visible, kept = _parts(data, held_out)
    if not visible or not kept:
        raise DataUnavailable(f"{data} leaves {len(visible)} visible and {len(kept)} held-out rows; both need some.")
    _write(target.visible / "train.jsonl", visible)
    _write(target.held_out / "rows.jsonl", kept)


def held_out_size(data: Path, held_out: int | None) -> int:
    """How many rows are held out; 0 where there is no data yet. Raises: DataUnavailable: a row is not usable."""
    return len(_parts(data, held_out)[1]) if (data / "train.jsonl").is_file() else 0


def question_text(row: Row) -> str:
    """A question as the checkpoint sees it: text as it is, anything else as JSON."""
    question = row["question"]
    return question if isinstance(question, str) else json.dumps(question)


def _parts(data: Path, held_out: int | None) -> tuple[Sequence[Row], Sequence[Row]]:
    train = read_rows(data / "train.jsonl")
    if (data / "test.jsonl").is_file():
        test = read_rows(data / "test.jsonl")
        chosen = {_key(row) for row in test}
        return [row for row in train if _key(row) not in chosen], test
    keys = sorted({_key(row) for row in train})
    chosen = set(keys[: held_out or min(MOST_HELD_OUT, len(keys) // 2)])
    return [row for row in train if _key(row) not in chosen], [row for row in train if _key(row) in chosen]


@lru_cache(maxsize=4)
def _read(path: Path, _changed: int) -> tuple[Row, ...]:
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataUnavailable(f"{path}, line {number} is not JSON: {error}") from error
        if not isinstance(row, dict) or not row.get("question") or "answer" not in row:
            raise DataUnavailable(f"{path}, line {number} lacks a question or an answer.")
        rows.append(row)
    return tuple(rows)


def read_rows(path: Path) -> Sequence[Row]:
    """Raises: DataUnavailable: a line is no row."""
    return _read(path, path.stat().st_mtime_ns)


def _key(row: Row) -> str:
    return hashlib.sha256(" ".join(question_text(row).split()).encode()).hexdigest()


def _write(path: Path, rows: Sequence[Row]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
