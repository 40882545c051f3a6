"""Claimed and final scores of a bundle, side by side."""

from dataclasses import dataclass

from benchmark.models import Trust
from bundles.checking.report import ClaimedSubmission, Report
from bundles.models import Bundle
from frontend import formats
from grading.models import Submission, TaskStanding


@dataclass(frozen=True)
class ScoreRow:
    """One submission: what was claimed and what counts. Scores 0..100, None: not scored."""

    claim: ClaimedSubmission
    final: float | None
    trust: str
    gain: float | None
    reason: str
    is_best: bool

    @property
    def checkpoint(self) -> str:
        """The path's end: absolute ones are of another machine."""
        path = self.claim.model_path
        return "/".join(path.rstrip("/").split("/")[-2:]) if path.startswith("/") else path or formats.DASH

    @property
    def differs(self) -> bool:
        """Whether the claimed number does not stand as it is."""
        return self.claim.score is not None and self.claim.score != self.final


def score_rows(bundle: Bundle, report: Report, standing: TaskStanding | None) -> list[ScoreRow]:
    """One row a submission, in order; before there is a run, as claimed."""
    rows: dict[int, Submission] = {}
    if bundle.run is not None:
        found = Submission.objects.filter(run=bundle.run).select_related("verdict")
        rows = {each.number: each for each in found}
    claims = sorted(report.claim.submissions, key=lambda each: each.number)
    finals = {each.number: each.score for each in claims}
    if rows:
        finals = {number: rows[number].score if number in rows else None for number in finals}
    best = max((value for value in finals.values() if value is not None), default=None)
    first = next((number for number, value in finals.items() if value is not None and value == best), None)
    reading = _Reading(bundle, standing, standing.baseline if standing else report.claim.baseline)
    return [reading.row(each, finals[each.number], rows.get(each.number), each.number == first) for each in claims]


@dataclass(frozen=True)
class _Reading:
    """What is the same for all rows."""

    bundle: Bundle
    standing: TaskStanding | None
    baseline: float | None

    @property
    def flagged(self) -> bool:
        return self.bundle.run is not None and self.bundle.run.trust == Trust.FLAGGED

    def row(self, claim: ClaimedSubmission, final: float | None, row: Submission | None, is_best: bool) -> ScoreRow:
        regraded = row is not None and row.verdict is not None and not row.verdict.claimed
        trust = "none" if final is None else Trust.REGRADED.value if regraded else self._claimed_trust()
        reason = claim.error if final is None else "graded here" if regraded else ""
        if self.flagged and is_best and self.standing:
            final, trust, reason = self.standing.final, Trust.FLAGGED.value, self.standing.flag_reason
        gain = None if final is None or self.baseline is None else final - self.baseline
        return ScoreRow(claim, final, trust, gain, reason or ("best" if is_best else ""), is_best)

    def _claimed_trust(self) -> str:
        """Of a score that was not reached here, whatever its run has come to."""
        if self.bundle.run is None:
            return Trust.CLAIMED.value
        shown = self.bundle.trust_before if self.flagged else self.bundle.run.trust
        return Trust.REVIEWED.value if shown == Trust.REGRADED else shown
