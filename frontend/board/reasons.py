"""Why a cell has no score: how its newest run stands, or how that run's newest submission ended."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db.models import OuterRef, Q, Subquery

from benchmark.models import Run, RunState
from frontend.board.parts import Part
from grading.models import Submission, TaskStanding

ASKED_MOST = 500


def reasons_told(parts: Sequence[Part]) -> list[Part]:
    """The parts, those without a score with its reason. One query, none when all are scored."""
    lacking = [part for part in parts if not part.values]
    asked = {part.last_run for part in lacking[:ASKED_MOST]}
    if not asked:
        return list(parts)
    of_task = Q(task=OuterRef("task")) | Q(task="")
    last = Submission.objects.filter(of_task, run=OuterRef("run")).order_by("-number").values("state")[:1]
    rows: Any = TaskStanding.objects.filter(run_id__in=asked).select_related("run").annotate(last_state=Subquery(last))
    told = {(row.run_id, row.task): _reason(row.run, row.last_state or "") for row in rows}
    return [part if part.values else _with_reason(part, told) for part in parts]


def _with_reason(part: Part, told: dict[tuple[int, str], str]) -> Part:
    withheld = any(flag.final is None for flag in part.flags)
    return replace(part, reason="withheld" if withheld else told.get((part.last_run, part.task), "not scored"))


def _reason(run: Run, last_state: str) -> str:
    if run.terminal and last_state:
        return last_state
    if run.state == RunState.FINISHED:
        return "no submission"
    return str(run.get_state_display()).lower()
