"""What the metrics of one run rest on: its submissions, their scores and methods, and the run's own facts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from traces.methods.routes import RouteLabel
from traces.methods.switches import MethodSwitch, Submitted, method_switches
from traces.methods.words import TRAINED, Method


@dataclass(frozen=True)
class Scored:
    """One submission. `score` None: not scored, and `code` then says why where it is known."""

    number: int
    elapsed_s: float
    score: float | None
    code: str = ""
    model_path: str = ""
    methods: tuple[Method, ...] = ()
    is_copy: bool = False
    """Of the base model, weight for weight."""
    is_waiting: bool = False

    @property
    def is_scored(self) -> bool:
        return self.score is not None and math.isfinite(self.score)


@dataclass(frozen=True)
class RunRecord:
    """What a run's metrics rest on. `used_s` is None before its start."""

    budget_s: float
    used_s: float | None
    baseline: float | None
    submissions: Sequence[Scored] = ()
    route: RouteLabel | None = None
    code_files: int | None = None
    model_versions: int | None = None
    labelled: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Runtime metadata, passed on as it is."""

    @property
    def scored(self) -> list[Scored]:
        return [each for each in self.submissions if each.is_scored]

    @property
    def best(self) -> Scored | None:
        """The highest score, of equal ones the earliest."""
        return max(self.scored, key=lambda each: (each.score or 0.0, -each.number), default=None)

    @property
    def switches(self) -> tuple[MethodSwitch, ...]:
        return method_switches([Submitted(each.number, each.methods, each.score) for each in self.submissions])

    @property
    def attempted(self) -> list[Method]:
        """Methods of any submission, in the order of `Method`."""
        used = {method for each in self.submissions for method in each.methods} & TRAINED
        return [method for method in Method if method in used]

    @property
    def adopted(self) -> list[Method]:
        """Of these, those behind the best submission (table 18)."""
        best = self.best
        return [method for method in self.attempted if best is not None and method in best.methods]
