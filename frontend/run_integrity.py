"""What was checked of a run, and what looked odd."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from frontend.run_attempts import Attempt, attempts_of
from frontend.run_page import RunPage
from grading.models import TaskStanding
from traces.models import Trace

NEAR = 1e-4
"""Relative distance of weights below which a checkpoint hardly differs from the base model."""
SHOWN = 100


@dataclass(frozen=True)
class Odd:
    """Something about one submission."""

    number: int
    code: str
    message: str


@dataclass(frozen=True)
class Integrity:
    """`attempts` were contained; `flags` changed a score."""

    page: RunPage
    attempts: Sequence[Attempt]
    flags: Sequence[TaskStanding]
    transcript_tokens: int | None
    """Input and output as the transcripts state them."""

    @property
    def odd(self) -> list[Odd]:
        """Copies of the base model, near copies, and what verdicts and intake warn of; the newest first."""
        found: list[Odd] = []
        for point in self.page.newest_first:
            row = point.submission
            found += [Odd(row.number, *told) for told in _of(row.intake, row.same_as)]
            warnings = row.verdict.warnings if row.verdict else []
            told = [*warnings, *row.intake.get("warnings", [])]
            found += [Odd(row.number, str(each.get("code", "")), str(each.get("message", ""))) for each in told]
        return found[:SHOWN]

    @property
    def checked(self) -> int:
        """Submissions whose weights were compared with the base model's."""
        return sum("distance" in point.submission.intake for point in self.page.points)

    @property
    def tokens_apart(self) -> bool:
        """Whether the gateway counted much more or less than the transcript states."""
        counted, stated = self.page.run.tokens, self.transcript_tokens
        return bool(counted and stated and not 0.8 <= counted / stated <= 1.25)


def _of(intake: dict[str, Any], same_as: str) -> list[tuple[str, str]]:
    if intake.get("equals_base") or same_as == "baseline":
        return [("copy", "Its weights are the base model’s: its score is the baseline.")]
    distance = (intake.get("distance") or {}).get("relative_l2")
    if isinstance(distance, int | float) and distance < NEAR:
        return [("near copy", f"Its weights differ from the base model’s by {distance:.1e} of their length.")]
    return []


def integrity_of(page: RunPage) -> Integrity:
    """Three queries beside the page's."""
    traces = Trace.objects.filter(run=page.run).values_list("tokens_input", "tokens_output")
    known = [(given or 0) + (made or 0) for given, made in traces if given is not None or made is not None]
    rows = [point.submission for point in page.points]
    return Integrity(
        page=page,
        attempts=attempts_of(page.run, [(row.number, row.intake.get("findings")) for row in rows]),
        flags=list(TaskStanding.objects.filter(run=page.run).exclude(flag_reason="")),
        transcript_tokens=sum(known) if known else None,
    )
