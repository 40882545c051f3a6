"""Times against each other, the budget and the clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from bundles.dialects.values import clock, iso
from bundles.rules.case import Case
from bundles.rules.findings import TOLD, Finding, found

CLOCK_SLACK = timedelta(minutes=5)
"""What clocks may be apart."""
EARLIEST = datetime(2023, 1, 1, tzinfo=timezone.utc)
OVERRUN = 1.01
OVERRUN_S = 120.0
GRADERS = 8
"""Submissions that one machine may grade at once."""


def time_findings(case: Case) -> Iterator[Finding]:
    yield from _plausible(case)
    yield from _bounds(case)
    yield from _order(case)
    yield from _budget(case)
    yield from _possible(case)


def _plausible(case: Case) -> Iterator[Finding]:
    run = case.run
    named: list[tuple[str, datetime | None]] = [("started_at", run.started_at), ("ended_at", run.ended_at)]
    named += [(f"submission {claim.number}", claim.at) for claim in run.submissions]
    told = 0
    for name, at in named:
        if at is None or told >= TOLD:
            continue
        if at > case.now + CLOCK_SLACK:
            told += 1
            yield found("time_future", f"{name} is {iso(at)}, and it is {iso(case.now.replace(microsecond=0))}.", name)
        elif at < EARLIEST:
            told += 1
            yield found("time_implausible", f"{name} is {iso(at)}.", name)


def _bounds(case: Case) -> Iterator[Finding]:
    run, told = case.run, 0
    start, end = run.started_at, run.ended_at
    if start and end and end < start:
        yield found("end_before_start", f"It starts {iso(start)} and ends {iso(end)}.", "ended_at")
        return
    for claim in run.submissions:
        if claim.at is None or told >= TOLD:
            continue
        place = f"submission {claim.number}"
        if start and claim.at < start - CLOCK_SLACK:
            told += 1
            yield found(
                "time_before_start", f"Submission {claim.number} is of {iso(claim.at)}, the start {iso(start)}.", place
            )
        elif end and claim.at > end + CLOCK_SLACK:
            told += 1
            yield found(
                "time_after_end", f"Submission {claim.number} is of {iso(claim.at)}, the end {iso(end)}.", place
            )
        if claim.elapsed_s is not None and start:
            off = (claim.at - start).total_seconds() - claim.elapsed_s
            if abs(off) > max(CLOCK_SLACK.total_seconds(), 0.02 * abs(claim.elapsed_s)):
                told += 1
                text = f"Submission {claim.number}: {clock(claim.elapsed_s)} elapsed, {clock(off)} more on the clock."
                yield found("elapsed_differs", text, place)


def _order(case: Case) -> Iterator[Finding]:
    claims = sorted((claim for claim in case.run.submissions if claim.at), key=lambda claim: claim.number)
    for before, after in zip(claims, claims[1:]):
        if before.at and after.at and after.at < before.at:
            text = f"Submission {after.number} is of {iso(after.at)}, before {before.number} of {iso(before.at)}."
            yield found("time_order", text, f"submission {after.number}")
            return


def _budget(case: Case) -> Iterator[Finding]:
    run = case.run
    if not run.budget_s:
        return
    last = max((claim.elapsed_s for claim in run.submissions if claim.elapsed_s is not None), default=None)
    for name, used in (("The run", run.used_s), ("The last submission", last)):
        if used is not None and used > max(run.budget_s * OVERRUN, run.budget_s + OVERRUN_S):
            text = f"{name} stands at {clock(used)}; the budget is {clock(run.budget_s)}."
            yield found("budget_overrun", text, "budget_s")
            return


def _possible(case: Case) -> Iterator[Finding]:
    """Grading takes time, and an agent waits for it: the times told must fit into the run."""
    run = case.run
    graded = [claim.grading_s for claim in run.submissions if claim.grading_s]
    if graded and run.used_s and sum(graded) > run.used_s * GRADERS:
        text = f"Grading {len(graded)} submissions took {clock(sum(graded))} in all; the run took {clock(run.used_s)}."
        yield found("too_many", text, "submissions")
        return
    claims = sorted((claim for claim in run.submissions if claim.elapsed_s is not None), key=lambda each: each.number)
    hurried = sum(
        1
        for before, after in zip(claims, claims[1:])
        if before.model_path == after.model_path
        and before.grading_s
        and (after.elapsed_s or 0) - (before.elapsed_s or 0) < before.grading_s / 2
    )
    if hurried > 2 and hurried > len(claims) / 2:
        text = f"{hurried} came before the one before could be graded."
        yield found("too_many", text, "submissions")
    elif len(claims) > 20 and run.used_s and run.used_s / len(claims) < 5:
        text = f"{len(claims)} in {clock(run.used_s)}: one every {run.used_s / len(claims):.1f} s."
        yield found("too_many", text, "submissions")
