"""The rungs of trust as the report page shows them."""

from dataclasses import dataclass

from benchmark.models import Trust
from bundles.checking.report import Report
from bundles.models import Bundle
from bundles.services.trust import RUNGS
from frontend import formats

RUNG_WORDS = {
    Trust.CLAIMED: ("Claimed", "stated by the submitter"),
    Trust.CHECKED: ("Checked", "the bundle agrees with itself"),
    Trust.REVIEWED: ("Reviewed", "a moderator has read it"),
    Trust.REGRADED: ("Re-graded", "this platform graded the same checkpoint"),
}


@dataclass(frozen=True)
class Rung:
    trust: str
    title: str
    told: str
    state: str
    """done, now or todo."""
    note: str = ""


def rungs(bundle: Bundle, report: Report) -> list[Rung]:
    """How far the bundle has come; a flag stands outside of them."""
    trust = bundle.run.trust if bundle.run else Trust.CLAIMED
    reached = bundle.trust_before if trust == Trust.FLAGGED else trust
    at = RUNGS.index(Trust(reached)) if reached in RUNGS else 0
    return [_rung(bundle, report, number, at) for number in range(len(RUNGS))]


def _rung(bundle: Bundle, report: Report, number: int, at: int) -> Rung:
    title, told = RUNG_WORDS[RUNGS[number]]
    state = "done" if number <= at else "now" if number == at + 1 else "todo"
    note = _in_the_way(bundle, report, RUNGS[number]) if state == "now" else ""
    if number == 0:
        note = f"{bundle.created_at:%-d %b %Y}"
    return Rung(RUNGS[number].value, title, told, state, note)


def _in_the_way(bundle: Bundle, report: Report, trust: Trust) -> str:
    """What stands between the run and this rung."""
    errors = report.count("error")
    if bundle.in_check:
        return "the check is not over"
    if trust == Trust.CHECKED:
        against = sum(each.contradicts for each in report.findings)
        return f"{formats.plural(errors or against, 'error' if errors else 'contradiction')} in the way"
    if trust == Trust.REVIEWED:
        return "waits for a moderator"
    return "" if any(each.digest for each in report.claim.submissions) else "needs a digest"
