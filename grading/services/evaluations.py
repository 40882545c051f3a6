"""Executing a claimed evaluation in the sandbox."""

import logging

from django.conf import settings

from benchmark.services.pulse import database_patiently, repeated
from grading.contract import Finding, RunnerVerdict
from grading.ports import HoldLost, grading_runner
from grading.services.claims import Claim
from grading.services.outcomes import evaluation_fault, evaluation_release, evaluation_store

log = logging.getLogger(__name__)


def evaluation_execute(claim: Claim) -> None:
    """Run the grading runner for a claimed evaluation and store what came of it."""
    try:
        with repeated(claim.beat, every_s=settings.HEARTBEAT_S, name=f"evaluation-{claim.evaluation.pk}"):
            verdict = grading_runner().run(evaluation=claim.evaluation, pulse=claim.pulse)
    except HoldLost:
        database_patiently(lambda: evaluation_release(claim.evaluation, claim.lease))
        return
    except Exception as error:
        log.exception("evaluation %s failed", claim.evaluation.pk)
        fault = Finding("I_GRADER", f"{type(error).__name__}: {error}", "Nothing to mend: the fault is the platform's.")
        database_patiently(lambda: evaluation_fault(claim.evaluation, claim.lease, fault))
        return
    finding = verdict.finding if verdict.fault == "infra" else verdict_problem(verdict)
    if finding is not None:
        database_patiently(lambda: evaluation_fault(claim.evaluation, claim.lease, finding))
    else:
        database_patiently(lambda: evaluation_store(claim.evaluation, claim.lease, verdict))


def verdict_problem(verdict: RunnerVerdict) -> Finding | None:
    """Why a runner's verdict cannot be believed: no finite score in 0..100, or not every item behind it."""
    if verdict.finding is not None:
        return None
    if verdict.score is None or not 0.0 <= verdict.score <= 100.0:
        return Finding("I_VERDICT", f"The grading runner reported the score {verdict.score}, which is none.")
    if verdict.n_scored != verdict.n_expected or not verdict.n_scored:
        return Finding("I_VERDICT", f"Only {verdict.n_scored} of {verdict.n_expected} items were scored.")
    return None
