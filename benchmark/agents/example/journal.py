"""What people read: one line a step on stdout, and `summary.md` after every submission."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BEGAN = time.monotonic()


def say(stage: str, text: str) -> None:
    """`[ 12s] sft   step 10/40  loss 0.81`."""
    print(f"[{time.monotonic() - _BEGAN:4.0f}s] {stage:<6} {text}", flush=True)


@dataclass(frozen=True)
class Entry:
    """One submission as it came back."""

    name: str
    tried: str
    answer: dict[str, Any]

    @property
    def score(self) -> float | None:
        score = self.answer.get("score")
        return float(score) if isinstance(score, int | float) else None

    def row(self) -> str:
        if self.score is None:
            return f"| {self.name} | {self.tried} | not scored: {self.answer.get('error')} | |"
        gain = self.answer.get("improvement")
        return f"| {self.name} | {self.tried} | {self.score:.2f} | {'' if gain is None else f'{gain:+.2f}'} |"


class Summary:
    """Rewritten whole every time, so that a run that is cut off leaves it too."""

    def __init__(self, path: Path, *, task: str, model: str, mode: str) -> None:
        self._path = path
        self._head = f"# Example agent on {task}\n\nBase model: {model}. Mode: {mode}.\n"
        self.entries: list[Entry] = []

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        self._path.write_text(self._text(), encoding="utf-8")

    def _text(self) -> str:
        scored = [entry for entry in self.entries if entry.score is not None]
        lines = [self._head, "| checkpoint | tried | score | improvement |", "|---|---|---|---|"]
        lines += [entry.row() for entry in self.entries]
        base = self.entries[-1].answer.get("baseline_score")
        if base is not None:
            lines += ["", f"The base model scores {base:.2f}."]
        if scored:
            best = max(scored, key=lambda entry: entry.score or 0.0)
            lines += ["", f"Best: {best.name} with {best.score:.2f}."]
        return "\n".join(lines) + "\n"
