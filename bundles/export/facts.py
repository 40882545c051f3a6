"""A run of this platform, local or imported, in the words of a bundle."""

import re
from collections.abc import Mapping

from benchmark.models import TERMINAL, Origin, Run
from bundles.dialects.facts import Claim, RunFacts
from bundles.format.words import LAYOUTS
from grading.models import Submission, TaskStanding

CLAIMED_CODE = "C_NOT_SCORED"
"""Of a submission that a bundle says nothing more about: it is no code of its own."""
UNSTATED = "unstated/"


def run_facts(run: Run, stated: RunFacts | None) -> RunFacts:
    """What the platform's rows say; `stated` is what the bundle of an imported run said beside."""
    told = stated or RunFacts("agent2")
    facts = RunFacts(
        layout="agent2",
        run=told.run or run.slug,
        task=run.task,
        tasks=list(run.task_list) or [run.task],
        protocol="" if run.protocol.startswith(UNSTATED) else run.protocol,
        agent=run.agent,
        agent_version=run.agent_version,
        driver=run.driver,
        driver_version=told.driver_version,
        base_model=run.base_model,
        base_revision=str(run.versions.get("base_revision", "")) or told.base_revision,
        base_digest=run.base_digest or told.base_digest,
        mode=run.mode,
        budget_s=run.budget_s,
        used_s=run.elapsed_s(run.ended_at) if run.started_at and run.ended_at else told.used_s,
        started_at=run.started_at,
        ended_at=run.ended_at,
        outcome=run.outcome if run.outcome in TERMINAL else "",
        tokens=run.tokens if run.tokens is not None else told.tokens,
        cost_usd=run.cost_usd if run.cost_usd is not None else told.cost_usd,
        hardware=told.hardware,
        seeds=told.seeds,
        contact=told.contact,
        licence=told.licence,
        baselines=_baselines(run),
        submissions=_claims(run, {claim.number: claim for claim in told.submissions}),
    )
    facts.claimed_best = told.claimed_best if run.origin == Origin.EXTERNAL else None
    return facts


def layout_of_run(run: Run) -> str:
    """Whose run directory it was made from."""
    layout = str(run.source.get("layout", ""))
    return layout if run.origin == Origin.EXTERNAL and layout in LAYOUTS else "agent2"


def _baselines(run: Run) -> dict[str, float]:
    rows = TaskStanding.objects.filter(run=run, baseline__isnull=False).order_by("task")
    return {row.task: row.baseline for row in rows if row.baseline is not None}


def _claims(run: Run, stated: Mapping[int, Claim]) -> list[Claim]:
    rows = Submission.objects.filter(run=run).select_related("verdict").order_by("number")
    return [_claim(run, row, stated.get(row.number, Claim(row.number))) for row in rows]


def _claim(run: Run, row: Submission, told: Claim) -> Claim:
    verdict = row.verdict
    code = verdict.code if verdict and verdict.code != CLAIMED_CODE else ""
    again = re.fullmatch(r"#(\d+)", row.same_as)
    return Claim(
        number=row.number,
        task=row.task or run.task,
        at=row.received_at,
        elapsed_s=row.elapsed_s,
        model_path=row.model_path,
        score=row.score,
        standard_error=verdict.standard_error if verdict else None,
        error=_error(row, told),
        error_code=code or told.error_code,
        digest=row.digest,
        grading_s=row.seconds or told.grading_s,
        tokens=row.tokens if row.tokens is not None else told.tokens,
        same_as=int(again[1]) if again else told.same_as,
        improvement=told.improvement,
        method=told.method,
    )


def _error(row: Submission, told: Claim) -> str:
    """Why there is no score. Of an imported submission as its bundle said it, which may be nothing."""
    if row.score is not None or row.verdict is None:
        return ""
    if row.run.origin == Origin.EXTERNAL:
        return told.error
    return row.verdict.message
