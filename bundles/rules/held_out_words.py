"""What shows that somebody had to do with held-out data: names of files, splits and ids, for each task."""

from __future__ import annotations

import re
from collections.abc import Sequence

ANY = (r"held[_-]out/", r"held_out\.jsonl?", r"grading/runner", r"verdict\.json")
BY_TASK: dict[str, tuple[str, ...]] = {
    "gsm8k": (
        r"load_dataset\([^)\n]{0,80}gsm8k[^)\n]{0,80}split\s*=\s*\\?[\"']test",
        r"gsm8k[^\s\"'\\]{0,60}/test[^\s\"'\\]{0,20}\.(?:jsonl|parquet|json)",
        r"\[\\?[\"']test\\?[\"']\]",
    ),
    "humaneval": (r"HumanEval/(?:8[2-9]|9\d|1[0-6]\d)\b", r"HumanEval\.jsonl", r"openai_humaneval"),
    "alpacaeval": (r"alpaca_eval_gpt4_baseline", r"alpaca_eval\.json"),
    "alfworld": (r"valid_unseen", r"valid_seen"),
    "webshop": (r"items_human_ins", r"human_goals\s*=\s*(?:1|True)"),
    "deepsearchqa": (r"DSQA-full", r"google/deepsearchqa"),
}


def held_out_pattern(task: str, words: Sequence[str] = ()) -> re.Pattern[bytes]:
    """One expression for a task; `words` are further names, taken literally."""
    parts = [*ANY, *BY_TASK.get(task, ()), *map(re.escape, words)]
    return re.compile("|".join(f"(?:{part})" for part in parts).encode())
