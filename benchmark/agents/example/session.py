"""What all stages share: the run's surroundings, its budget, and how a checkpoint is saved and offered."""

import copy
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from .grader import Grader
from .journal import Entry, Summary, say
from .recipes import Recipe, recipe_for

MARGIN_S = 5.0


@dataclass
class Session:
    """One run of this agent."""

    task: str
    mode: str
    base: Path
    data: Path
    output: Path
    recipe: Recipe
    grader: Grader
    summary: Summary
    tokenizer: Any = None
    dtype: torch.dtype = torch.float32
    grading_s: float = field(default=0.0)
    """The longest grading so far."""

    def load(self, path: Path) -> Any:
        """The checkpoint in float32: small learning rates would be lost in bfloat16."""
        return AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)

    def reserve(self, submissions: int = 1) -> float:
        """Seconds to keep for saving and grading."""
        one = 1.5 * self.grading_s if self.grading_s else self.recipe.grading_guess_s
        return submissions * one + MARGIN_S

    def deadline(self, *, keep: float, share: float = 1.0) -> float:
        """On `time.monotonic()`: when a stage has used its share of the time left after `keep` seconds."""
        return time.monotonic() + share * max(0.0, self.grader.remaining() - keep)

    def save(self, model: Any, name: str) -> Path:
        """Full weights in the base model's type, and the tokenizer."""
        folder = self.output / name
        shutil.rmtree(folder, ignore_errors=True)
        kept = model if model.dtype == self.dtype else copy.deepcopy(model).to(self.dtype)
        kept.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        return folder

    def offer(self, model: Any, name: str, tried: str) -> Path:
        """Save, submit, wait for the verdict and note it."""
        folder = self.save(model, name)
        say("submit", f"{name}: waiting for the grader")
        began = time.monotonic()
        answer = self.grader.submit(str(folder))
        self.grading_s = max(self.grading_s, time.monotonic() - began)
        entry = Entry(name, tried, answer)
        self.summary.add(entry)
        say("submit", f"{name}: {verdict_line(entry)}")
        return folder


def verdict_line(entry: Entry) -> str:
    """`score 52.40 (base 11.00, +41.40)`, or why there is none and what would mend it."""
    answer = entry.answer
    if entry.score is None:
        fix = f" To mend it: {answer['fix']}" if answer.get("fix") else ""
        return f"not scored, {answer.get('code', 'no code')}: {answer.get('error')}{fix}"
    if answer.get("baseline_score") is None:
        return f"score {entry.score:.2f}"
    return f"score {entry.score:.2f} (base {answer['baseline_score']:.2f}, {answer['improvement']:+.2f})"


def session_from(environment: Mapping[str, str]) -> Session:
    """From the variables every agent is given, MODE and BUDGET_S being optional."""
    task, mode = environment["TASK"], environment.get("MODE") or "free"
    base = Path(environment["MODEL_PATH"])
    session = Session(
        task=task,
        mode=mode,
        base=base,
        data=Path(environment["DATA_PATH"]),
        output=Path(environment["OUTPUT_DIR"]),
        recipe=recipe_for(task, gpu=torch.cuda.is_available()),
        grader=Grader(environment["GRADING_SERVER_URL"]),
        summary=Summary(
            Path(environment["WORKSPACE"]) / "summary.md",
            task=task,
            model=environment.get("BASE_MODEL") or base.name,
            mode=mode,
        ),
        tokenizer=AutoTokenizer.from_pretrained(base),
    )
    session.output.mkdir(parents=True, exist_ok=True)
    session.dtype = AutoModelForCausalLM.from_pretrained(base, dtype="auto").dtype
    if session.recipe.chat and session.tokenizer.chat_template is None:
        raise SystemExit(f"The base model has no chat template, and prompts of {task} are chat messages.")
    if session.tokenizer.pad_token is None:
        session.tokenizer.pad_token = session.tokenizer.eos_token
    if not os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(os.cpu_count() or 1)
    return session
