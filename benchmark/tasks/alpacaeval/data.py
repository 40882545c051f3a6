"""Lay out AlpacaEval 2.0: the 805 instructions, the baseline's outputs and the GLM's constants, all held out.

The benchmark names no training set. What is visible says what instructions look like, with examples written for this
platform.
"""

import csv
import hashlib
import json
import math
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmark.tasks.data_contract import DataSource, DataTarget, DataUnavailable

REVISION = "2edc6fad8be6b14ea7230aabfd08188da6b8b814"
URL = f"https://huggingface.co/datasets/tatsu-lab/alpaca_eval/resolve/{REVISION}/"
BASELINE, DIFFICULTY, GAMED = "alpaca_eval_gpt4_baseline.json", "instruction_difficulty.csv", "df_gamed.csv"
SHA256 = {
    BASELINE: "83db546b872ddebee8965fd05fa48461ee3c32bc695c62fb57f2d214ff741ec4",
    DIFFICULTY: "e28d875bb334f75e17acd1e4ed659b261860e3db379cf5de29060301bed0a18b",
    GAMED: "97aeec3f1c7de6dee6fd31fe66f1702623f4614c3efe1c6fc5f4927cd5fd674d",
}
STAND_INS = {DIFFICULTY: "instruction_difficulty.REESTIMATED.csv", GAMED: "df_gamed.RECONSTRUCTED.csv"}
"""What an operator may give where a file cannot be had. Length-controlled rates are then marked approximate."""
INSTRUCTIONS, GAMED_SETS = 805, 2
VISIBLE = Path(__file__).with_name("visible")


def prepare(target: DataTarget, source: DataSource) -> None:
    """Write `visible/` and, held out, `instructions.jsonl`, `gamed.jsonl` and `sources.json`.

    Raises: DataUnavailable: a file is missing, is another one, or is not what it should be.
    """
    for file in VISIBLE.glob("*.*"):
        shutil.copyfile(file, target.visible / file.name)
    baseline = source.file(BASELINE, sha256=SHA256[BASELINE], url=URL + BASELINE)
    difficulty, gamed = _or_stand_in(source, DIFFICULTY), _or_stand_in(source, GAMED)
    difficulties = _difficulties(difficulty)
    rows = json.loads(baseline.read_text(encoding="utf-8"))
    _write(
        target.held_out / "instructions.jsonl",
        (
            {"instruction": row["instruction"], "output": row["output"], "difficulty": difficulties[number]}
            for number, row in enumerate(rows)
        ),
    )
    _write(target.held_out / "gamed.jsonl", _gamed(gamed, difficulties))
    told = {file.name: _sha256(file) for file in (baseline, difficulty, gamed)}
    stand_ins = [file.name for file in (difficulty, gamed) if told[file.name] not in SHA256.values()]
    (target.held_out / "sources.json").write_text(json.dumps({"sha256": told, "stand_ins": stand_ins}, indent=1))


def _or_stand_in(source: DataSource, name: str) -> Path:
    try:
        return source.file(name, sha256=SHA256[name], url=URL + name)
    except DataUnavailable as missing:
        try:
            return source.file(STAND_INS[name], sha256=None, url="")
        except DataUnavailable:
            raise DataUnavailable(
                f"{missing} Where it cannot be had, a stand-in named {STAND_INS[name]} in that folder makes "
                "length-controlled win rates approximate."
            ) from missing


def _difficulties(path: Path) -> list[float]:
    """By instruction. The first column is the instruction's number, the second its difficulty."""
    rows = _csv(path)
    try:
        columns = list(rows[0])
        found = {int(row[columns[0]]): float(row[columns[1]]) for row in rows}
        values = [found[number] for number in range(INSTRUCTIONS)]
    except (IndexError, KeyError, ValueError) as error:
        raise DataUnavailable(f"{path} does not name a difficulty for each of {INSTRUCTIONS} instructions.") from error
    if not all(map(math.isfinite, values)):
        raise DataUnavailable(f"{path} has difficulties that are no numbers.")
    return values


def _gamed(path: Path, difficulties: list[float]) -> list[Mapping[str, Any]]:
    """Judgements of the brief and the verbose baseline."""
    try:
        rows: list[Mapping[str, Any]] = [
            {
                "preference": float(row["preference"]),
                "scaled_length": float(row["std_delta_len"]),
                "difficulty": difficulties[int(row["index"])],
            }
            for row in _csv(path)
        ]
    except (IndexError, KeyError, ValueError) as error:
        raise DataUnavailable(f"{path} lacks preference, index or std_delta_len in some row.") from error
    usable = all(math.isfinite(row["scaled_length"]) and 0 <= row["preference"] <= 1 for row in rows)
    if len(rows) != GAMED_SETS * INSTRUCTIONS or not usable:
        raise DataUnavailable(f"{path} must have {GAMED_SETS * INSTRUCTIONS} rows with preferences within 0 and 1.")
    return rows


def _csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
