"""Lay out GSM8K: the training file is visible, the test file and four worked examples are held by the grader."""

import json
import re
import shutil
from pathlib import Path

from benchmark.tasks.data_contract import DataSource, DataTarget

COMMIT = "3101c7d5072418e28b9008a6636bde82a006892c"
URL = f"https://raw.githubusercontent.com/openai/grade-school-math/{COMMIT}/grade_school_math/data/"
SHA256 = {
    "train.jsonl": "17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465",
    "test.jsonl": "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
}
EXAMPLE_ROWS = (7364, 1708, 669, 6724)
"""Rows of the training file whose questions OpenCompass' gsm8k_gen_1d7fe4 shows as worked examples, in its order."""
CALCULATOR_NOTE = re.compile(r"<<[^>]*>>")


def prepare(target: DataTarget, source: DataSource) -> None:
    """Write `visible/train.jsonl`, `held_out/test.jsonl` and `held_out/examples.jsonl`. Raises: DataUnavailable."""
    train = _file(source, "train.jsonl")
    shutil.copyfile(train, target.visible / "train.jsonl")
    shutil.copyfile(_file(source, "test.jsonl"), target.held_out / "test.jsonl")
    rows = [json.loads(line) for line in train.read_text(encoding="utf-8").splitlines()]
    examples = [worked_example(rows[index]) for index in EXAMPLE_ROWS]
    text = "".join(json.dumps(example) + "\n" for example in examples)
    (target.held_out / "examples.jsonl").write_text(text, encoding="utf-8")


def worked_example(row: dict[str, str]) -> dict[str, str]:
    """A training row as the grader shows it: without calculator notes, ending in `The answer is N`."""
    solution, _, final = row["answer"].partition("\n#### ")
    return {
        "question": row["question"],
        "answer": f"{CALCULATOR_NOTE.sub('', solution)}\nThe answer is {final.strip()}",
    }


def _file(source: DataSource, name: str) -> Path:
    return source.file(name, sha256=SHA256[name], url=URL + name)
