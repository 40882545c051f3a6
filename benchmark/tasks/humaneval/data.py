"""Lay out HumanEval: the first half is visible with solutions and tests, the second is held by the grader."""

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmark.tasks.data_contract import DataSource, DataTarget, DataUnavailable

COMMIT = "6d43fb980f9fee3c892a914eda09951f772ad10d"
URL = f"https://raw.githubusercontent.com/openai/human-eval/{COMMIT}/data/HumanEval.jsonl.gz"
SHA256 = "b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef"
VISIBLE_ROWS = 82
"""HumanEval/0 to /81; the split of the published reference implementation."""
GRADED_KEYS = ("task_id", "prompt", "entry_point", "test")
"""What grading needs. Solutions of held-out problems are not even there to be found."""


def prepare(target: DataTarget, source: DataSource) -> None:
    """Write `visible/train.jsonl` and `held_out/problems.jsonl`. Raises: DataUnavailable."""
    rows = read_rows(source.file("HumanEval.jsonl.gz", sha256=SHA256, url=URL))
    _write(target.visible / "train.jsonl", rows[:VISIBLE_ROWS])
    held_out = [{key: row[key] for key in GRADED_KEYS} for row in rows[VISIBLE_ROWS:]]
    _write(target.held_out / "problems.jsonl", held_out)


def read_rows(path: Path) -> list[dict[str, str]]:
    """All 164 problems in order. Raises: DataUnavailable: the order is another one."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if [row["task_id"] for row in rows] != [f"HumanEval/{number}" for number in range(164)]:
        raise DataUnavailable(f"{path} does not hold HumanEval/0 to /163 in order.")
    return rows


def _write(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
