"""Lay out DeepSearchQA: 100 questions with answers are visible, 200 others are held by the grader."""

import csv
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmark.tasks.data_contract import DataSource, DataTarget, DataUnavailable

REVISION = "b2623f8653065c2672de6d941fc5434cd652376c"
URL = f"https://huggingface.co/datasets/google/deepsearchqa/resolve/{REVISION}/DSQA-full.csv"
NAME = "DSQA-full.csv"
SHA256 = "25d48dcf7efa872e5467032e8b8eedf38d301f59a252d0da95cda584baa78396"
KAGGLE_SHA256 = "cc4394663f2fa9af042327d9c6d53767df1ed85c9aaef9ed11fe6458b6133368"
"""The same rows with a column `example_id`, deepmind/deepsearchqa version 4: accepted from an operator's folder."""
ROWS = 900
COLUMNS = ("problem", "problem_category", "answer", "answer_type")
KINDS = ("Single Answer", "Set Answer")
FOLDER = Path(__file__).parent
SPLIT = FOLDER / "split.json"
"""Row numbers from 0 in the split's order: numpy's `default_rng(42).permutation(900)`, of which the reference shows
agents the first 100 and grades on the next 200. Written down because numpy promises no stream across versions."""


def prepare(target: DataTarget, source: DataSource) -> None:
    """Write `visible/train.jsonl` with the episode's text format, and `held_out/questions.jsonl`.

    Raises: DataUnavailable: the published file is missing or another one.
    """
    rows = read_rows(_published(source))
    split = json.loads(SPLIT.read_text(encoding="utf-8"))
    held_out = [_row(rows, number) for number in split["held_out"]]
    asked = {row["problem"] for row in held_out}
    # A question that occurs twice in the file must not be on both sides.
    visible = [row for row in (_row(rows, number) for number in split["visible"]) if row["problem"] not in asked]
    _write(target.held_out / "questions.jsonl", held_out)
    _write(target.visible / "train.jsonl", visible)
    for file in (FOLDER / "react.py", FOLDER / "visible" / "README.md"):
        shutil.copyfile(file, target.visible / file.name)


def read_rows(path: Path) -> list[dict[str, str]]:
    """All 900 rows in the file's order. Raises: DataUnavailable: they are fewer, or something is missing in one."""
    with path.open(encoding="utf-8-sig", newline="") as lines:
        rows = [{name: (row.get(name) or "").strip() for name in COLUMNS} for row in csv.DictReader(lines)]
    if len(rows) != ROWS:
        raise DataUnavailable(f"{path} has {len(rows)} rows, expected {ROWS}. Fetch it anew from {URL}.")
    for number, row in enumerate(rows):
        if not row["problem"] or not row["answer"] or row["answer_type"] not in KINDS:
            raise DataUnavailable(f"{path}: row {number} lacks a question, an answer or its kind. It comes from {URL}.")
    return rows


def _published(source: DataSource) -> Path:
    try:
        return source.file(NAME, sha256=SHA256, url=URL)
    except DataUnavailable as missing:
        try:
            return source.file(NAME, sha256=KAGGLE_SHA256, url=URL)
        except DataUnavailable:
            raise missing from None


def _row(rows: list[dict[str, str]], number: int) -> dict[str, str]:
    return {"id": f"row-{number:03d}", **rows[number]}


def _write(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
