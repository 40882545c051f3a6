"""Claims that this platform has graded itself: the same checkpoint, by its digest, base model and protocol."""

from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from benchmark.models import Origin, Run, Trust
from benchmark.services.audit import audit_record
from bundles.services.notifications import notification_send
from bundles.services.trust import trust_raise
from grading.models import Evaluation, EvaluationState, Submission, TaskStanding, Verdict
from grading.models.evaluation import EvaluationQuerySet
from grading.models.verdict import CLAIMED
from grading.services.standings import protocol_of, standing_rebuild

LOOK_BACK = timedelta(days=2)


def regrades_note() -> int:
    """Put verdicts of recent evaluations in the place of claims about the same checkpoints; how many."""
    recent = _done().filter(ended_at__gt=timezone.now() - LOOK_BACK)
    claims = Submission.objects.filter(run__origin=Origin.EXTERNAL, digest__in=recent.values("digest"))
    return _noted(claims.filter(verdict__protocol__startswith=CLAIMED))


def run_regrades_note(run: Run) -> int:
    """The same for one run and everything that was ever graded here."""
    return _noted(Submission.objects.filter(run=run, verdict__protocol__startswith=CLAIMED).exclude(digest=""))


def _done() -> EvaluationQuerySet:
    return Evaluation.objects.filter(state=EvaluationState.DONE, verdict__score__isnull=False, repeat=0)


def _noted(claims: Iterable[Submission]) -> int:
    noted = 0
    for submission in claims:
        run = Run.objects.get(pk=submission.run_id)
        protocol = protocol_of(run, submission.task)
        same = _done().filter(digest=submission.digest, protocol=protocol, base_model=run.base_model)
        found = same.select_related("verdict").order_by("ended_at", "pk").first()
        if found is not None and found.verdict is not None:
            _note(run, submission, found, found.verdict)
            noted += 1
    return noted


def _note(run: Run, submission: Submission, evaluation: Evaluation, verdict: Verdict) -> None:
    with transaction.atomic():
        mine = Submission.objects.filter(pk=submission.pk, verdict=submission.verdict)
        claimed = submission.verdict
        if not mine.update(verdict=verdict, evaluation=evaluation, state="graded", intake={}):
            return
        audit_record(
            actor=None,
            action="submission.regrade",
            subject=run,
            number=submission.number,
            claimed=claimed.score if claimed else None,
            graded=verdict.score,
            evaluation=evaluation.pk,
        )
        _stand_again(run, submission.task or run.task, evaluation)
        _raise(run, submission, verdict)


def _stand_again(run: Run, task: str, evaluation: Evaluation) -> None:
    """Our own baseline takes the place of the claimed one where there is one."""
    standing_rebuild(run, task)
    baselines = _done().filter(digest=evaluation.base_digest, base_digest=evaluation.base_digest)
    ours = baselines.filter(protocol=evaluation.protocol, engine=evaluation.engine).select_related("verdict").first()
    if ours is not None and ours.verdict is not None:
        values = {"baseline": ours.verdict.score, "baseline_error": ours.verdict.standard_error}
        TaskStanding.objects.filter(run=run, task=task).update(**values)


def _raise(run: Run, submission: Submission, verdict: Verdict) -> None:
    """The run is re-graded once the submissions that count are, of several tasks on each."""
    rows = TaskStanding.objects.filter(run=run, best_submission__isnull=False).select_related(
        "best_submission__verdict"
    )
    counting = [row.best_submission.verdict for row in rows if row.best_submission]
    if not counting or any(each is None or each.claimed for each in counting):
        return
    reason = f"submission {submission.number} was graded here: {verdict.score:.2f}{_also_of(run, submission)}"
    if trust_raise(run, Trust.REGRADED, actor=None, reason=reason) and run.created_by is not None:
        notification_send(
            user=run.created_by, text=f"Run {run.slug} is re-graded: {reason}.", path=f"/runs/{run.slug}/"
        )


def _also_of(run: Run, submission: Submission) -> str:
    """Who else submitted the same checkpoint: a digest can be copied by whoever has read it."""
    others = Submission.objects.filter(digest=submission.digest).exclude(run=run).select_related("run")
    first = others.order_by("received_at", "pk").first()
    return f"; run {first.run.slug} submitted the same checkpoint as its number {first.number}" if first else ""
