"""Faults of a grading run, each with a `Finding`: the submitter's (`ArtifactFault`) or ours (`InfraFault`)."""

from collections.abc import Mapping
from typing import Any

from grading.contract import Fault, Finding


class GradingFault(Exception):
    """Ends a grading run without a score."""

    fault: Fault

    def __init__(self, code: str, message: str, *, fix: str = "", detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.finding = Finding(code=code, message=message, fix=fix, detail=detail or {})


class ArtifactFault(GradingFault):
    """The checkpoint is at fault; the finding says how to mend it."""

    fault = "artifact"


class InfraFault(GradingFault):
    """The grader, its machine or its task is at fault: retried, never scored, costs no submission."""

    fault = "infra"


def first_line(error: BaseException, limit: int = 500) -> str:
    """The exception's type and the start of its text, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:limit]}"
