"""A second task beside arithmetic: a folder as other people have them."""

import json
from pathlib import Path

EVAL = "def evaluate(question, model_answer, reference_answer, **extra):\n    return float(model_answer == '')\n"


def capitals_write(tasks: Path) -> str:
    """Four questions a split below the folder of tasks; the task's id."""
    folder = tasks / "capitals"
    (folder / "data").mkdir(parents=True)
    (folder / "config.yaml").write_text("name: capitals\neval_mode: per_sample\ndescription: Say the capital.\n")
    (folder / "eval.py").write_text(EVAL)
    for part in ("train", "test"):
        rows = [json.dumps({"question": f"{part} {i}?", "answer": str(i)}) for i in range(4)]
        (folder / "data" / f"{part}.jsonl").write_text("\n".join(rows) + "\n")
    return "smith-capitals"
