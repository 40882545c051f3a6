"""Per-sample folders: one question, one answer, one score from the folder's own `eval.py`.

The folder is taken as it is. `eval.py` defines `evaluate(question, model_answer, reference_answer, **extra) -> float`
with a result in 0..1; `extra` are the row's other keys. It runs in the grading sandbox only.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.tasks.contract import Evaluator
from benchmark.tasks.data_contract import DataTarget
from benchmark.tasks.folder_task_split import held_out_size, split
from benchmark.tasks.folder_task_yaml import BadFolder, whole_number

PROMPTS = ("text", "chat")
MAX_TOKENS = 2048
"""Of the published reference implementation, as is the raw text prompt."""
NOTE = """
## How a submission is graded

{size} held-out questions are put to your checkpoint one at a time, {how}. Decoding is greedy, with at most {tokens} new
tokens. The task's scoring function gives each answer between 0 and 1; the score is 100 × their mean.

`data/train.jsonl` holds the visible rows, one JSON object a line: `question`, `answer` and whatever else scoring uses.
No held-out question is among them.
"""
HOW = {
    "text": "as raw text without a chat template",
    "chat": "as one user message, rendered with the base model's chat template",
}


@dataclass(frozen=True)
class SamplesRecipe:
    """See `Recipe`."""

    folder: Path
    about: Mapping[str, Any]
    prompt: str
    max_tokens: int
    held_out: int | None

    @classmethod
    def of_folder(cls, folder: Path, config: Mapping[str, Any]) -> "SamplesRecipe":
        """Raises: BadFolder."""
        path = folder / "config.yaml"
        if not config.get("name"):
            raise BadFolder(f"{path} lacks the key 'name'.")
        prompt = str(config.get("prompt", "text"))
        if prompt not in PROMPTS:
            raise BadFolder(f"{path}: prompt must be one of {', '.join(PROMPTS)}, not {prompt!r}.")
        held_out = whole_number(config, "held_out", None, path)
        max_tokens = whole_number(config, "max_tokens", MAX_TOKENS, path) or MAX_TOKENS
        size = held_out_size(folder / "data", held_out)
        note = NOTE.format(size=size, how=HOW[prompt], tokens=max_tokens)
        return cls(folder, _about(folder, config, size, note), prompt, max_tokens, held_out)

    def prepare(self, target: DataTarget) -> None:
        """Raises: DataUnavailable."""
        split(self.folder / "data", self.held_out, target)

    def evaluator(self) -> Evaluator:
        from benchmark.tasks.folder_task_evaluator import SamplesEvaluator

        return SamplesEvaluator(self)


def _about(folder: Path, config: Mapping[str, Any], size: int, note: str) -> dict[str, Any]:
    name = str(config["name"])
    task_id = f"smith-{name}"
    written = folder / "description.md"
    text = (
        written.read_text(encoding="utf-8") if written.is_file() else f"# {name}\n\n{config.get('description', '')}\n"
    )
    return {
        "id": task_id,
        "title": str(config.get("title", name)),
        "level": str(config.get("level", "L1")),
        "protocol": f"{task_id}/{_digest(folder)}",
        "summary": str(config.get("description", name)),
        "metric": str(config.get("metric", "Mean score")),
        "eval_size": size,
        "horizon": 1,
        "description": text + note,
    }


def _digest(folder: Path) -> str:
    """Of everything that decides a score: other code or other data is another protocol."""
    paths = [folder / "config.yaml", *folder.glob("*.py"), *(folder / "data").glob("*.jsonl")]
    whole = hashlib.sha256()
    for path in sorted(path for path in paths if path.is_file()):
        with path.open("rb") as handle:
            whole.update(f"{path.relative_to(folder)} {hashlib.file_digest(handle, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()[:8]
