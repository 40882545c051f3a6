"""What the code does to the world: steps of training, checkpoints and files that it writes."""

import fnmatch
import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TypeVar

from traces.methods.words import Evidence, Method

GENERIC = frozenset(("output", "outputs", "models", "checkpoints", "ckpt", "results", "data", "tmp", "workspace"))
MAX_STEPS = 500
T = TypeVar("T")


@dataclass(eq=False, slots=True)
class Step:
    """One thing that changed a model's weights, or copied them. A later look at the same line may correct it."""

    method: Method
    file: str
    line: int | None
    why: str
    doubts: tuple[str, ...] = ()
    tags: frozenset[str] = frozenset()


@dataclass
class Store:
    """Steps in the order in which they run, and what lies where afterwards."""

    steps: dict[Hashable, Step] = field(default_factory=dict)
    checkpoints: dict[str, tuple[Step, ...]] = field(default_factory=dict)
    files: dict[str, frozenset[str]] = field(default_factory=dict)
    notes: list[Evidence] = field(default_factory=list)
    trains_unknown: bool = False

    def step(self, step: Step, key: Hashable = None) -> Step:
        """Record `step` once per line, method and `key`; of two the fewer doubts stay."""
        at = (step.file, step.line, key if key is not None else step.method)
        known = self.steps.get(at)
        if known is None:
            if len(self.steps) < MAX_STEPS:
                self.steps[at] = step
            return step
        known.method, known.why, known.tags = step.method, step.why, step.tags
        if len(step.doubts) < len(known.doubts):
            known.doubts = step.doubts
        return known

    def note(self, file: str, line: int | None, why: str) -> None:
        found = Evidence(file, line, why)
        if found not in self.notes and len(self.notes) < MAX_STEPS:
            self.notes.append(found)

    def saved(self, path: str, lineage: tuple[Step, ...]) -> None:
        """A checkpoint is written to `path`; it replaces what was there."""
        self.checkpoints[clean(path)] = lineage

    def lineage(self, path: str) -> tuple[Step, ...] | None:
        """The steps behind the checkpoint at `path`, or in a folder of it; `None` when not known."""
        parts = _parts(path)
        found = _look(self.checkpoints, parts)
        for cut in (1, 2):
            above = parts[:-cut]
            if found is None and above and above[-1] not in GENERIC:
                found = _look(self.checkpoints, above)
        return found

    def wrote(self, path: str, tags: frozenset[str]) -> None:
        name = clean(path)
        self.files[name] = self.files.get(name, frozenset()) | tags

    def file_tags(self, path: str) -> frozenset[str] | None:
        """The tags of what was written to `path`; `None` when nothing was."""
        return _look(self.files, _parts(path))


def clean(path: str) -> str:
    return "/".join(_parts(path)) or path


def merged(*lineages: tuple[Step, ...]) -> tuple[Step, ...]:
    """Several lineages one after another, each step once."""
    return tuple(dict.fromkeys(step for lineage in lineages for step in lineage))


def _parts(path: str) -> list[str]:
    return [
        part for part in re.split(r"[/\\]+", path.strip()) if part not in ("", ".", "..") and not part.startswith("$")
    ]


def _look(known: dict[str, T], parts: list[str]) -> T | None:
    """The entry of that path; else the one that agrees from the end, the longer agreement and the later first."""
    if not parts:
        return None
    if "/".join(parts) in known:
        return known["/".join(parts)]
    best: tuple[int, T] | None = None
    for other, value in known.items():
        theirs = other.split("/")
        count = min(len(theirs), len(parts))
        pairs = list(zip(theirs[-count:], parts[-count:], strict=True))
        if all(_same(a, b) for a, b in pairs):
            exact = sum(a == b for a, b in pairs)
            if best is None or exact >= best[0]:
                best = (exact, value)
    return best[1] if best else None


def _same(left: str, right: str) -> bool:
    if left == right:
        return True
    if ("*" in left) == ("*" in right):
        return False
    pattern, name = (left, right) if "*" in left else (right, left)
    return pattern.strip("*") != "" and fnmatch.fnmatchcase(name, pattern)
