"""Lay out GSM8K: the training file is visible, the test file and four worked examples are held by the grader."""

import json
import shutil
from pathlib import Path

from benchmark.tasks.data_contract import DataSource, DataTarget
from benchmark.tasks.gsm8k.examples import worked_examples

COMMIT = "3101c7d5072418e28b9008a6636bde82a006892c"
URL = f"https://raw.githubusercontent.com/openai/grade-school-math/{COMMIT}/grade_school_math/data/"
SHA256 = {
    "train.jsonl": "17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465",
    "test.jsonl": "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
}


def prepare(target: DataTarget, source: DataSource) -> None:
    """Write `visible/train.jsonl`, `held_out/test.jsonl` and `held_out/examples.jsonl`. Raises: DataUnavailable."""
    train = _file(source, "train.jsonl")
    shutil.copyfile(train, target.visible / "train.jsonl")
    shutil.copyfile(_file(source, "test.jsonl"), target.held_out / "test.jsonl")
    rows = [json.loads(line) for line in train.read_text(encoding="utf-8").splitlines()]
    text = "".join(json.dumps(example) + "\n" for example in worked_examples(rows))
    (target.held_out / "examples.jsonl").write_text(text, encoding="utf-8")


def _file(source: DataSource, name: str) -> Path:
    return source.file(name, sha256=SHA256[name], url=URL + name)
