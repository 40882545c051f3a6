"""Ended runs with scored and labelled submissions, for pages that tell how scores grew."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from benchmark.models import Run, RunState
from grading.models import Baseline, Evaluation, SubmissionState
from grading.services.standings import standing_rebuild
from tests.support.rows import baseline_row, run_row, submission_row, verdict_row
from traces.models import LabelSource, MethodLabel

HOUR = 3600.0


def story_row(
    scores: Sequence[float | None],
    methods: Sequence[Sequence[str]] = (),
    *,
    baseline: float | None = 10.0,
    error: float | None = 2.0,
    **values: Any,
) -> Run:
    """A finished run of ten hours; a submission each hour, `None` rejected, with the rules' labels where given.

    Runs of one protocol share their baseline: the first one's counts.
    """
    started = timezone.now() - timedelta(hours=11)
    facts = {"state": RunState.FINISHED, "budget_s": 12 * 3600, "tokens": 1_000_000 * len(scores)}
    times = {"started_at": started, "deadline_at": None, "ended_at": started + timedelta(hours=10)}
    run = run_row(**{**facts, **times, **values})
    if baseline is not None:
        known = Evaluation.objects.filter(protocol=run.protocol, digest=run.base_digest).first()
        if known is None:
            baseline_row(run, baseline)
        else:
            Baseline.objects.create(run=run, evaluation=known)
    for at, score in enumerate(scores, start=1):
        metrics = {} if error is None else {"standard_error": error}
        verdict = verdict_row(run, score, metrics=metrics)
        state = SubmissionState.REJECTED if score is None else SubmissionState.GRADED
        ended = started + timedelta(hours=at, minutes=1)
        submission_row(run, state=state, verdict=verdict, elapsed_s=HOUR * at, tokens=1_000_000 * at, ended_at=ended)
    for number, words in enumerate(methods, start=1):
        MethodLabel.objects.create(run=run, number=number, source=LabelSource.RULES, methods=list(words))
    standing_rebuild(run)
    return run
