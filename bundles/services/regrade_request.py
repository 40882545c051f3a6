"""Grading here what a bundle brought along: its weights are taken in like a submission's and queued for evaluation."""

import logging
import shutil
import tempfile
from datetime import timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from benchmark.catalogue import task_get, tasks
from benchmark.models import Origin, Run
from benchmark.services.audit import audit_record
from benchmark.services.protocols import engine_in_force, protocol_in_force
from benchmark.services.pulse import repeated
from benchmark.services.queueing import job_send_on_commit
from bundles.checking.report import Report
from bundles.models import ACCEPTED, Bundle
from bundles.services.check_process import archive_here, unpacked_apart
from bundles.services.regrading import run_regrades_note
from grading.intake import IntakeLimits, View, checkpoint_take
from grading.intake.report import IntakeReport
from grading.models import Evaluation, EvaluationState, Submission
from grading.services.baselines import baseline_request
from grading.services.claims import REGRADE, evaluation_revive
from grading.services.places import base_folder_of, checkpoint_store, facts_of_base

log = logging.getLogger(__name__)
ASKED, TAKEN, FAILED = "asked", REGRADE, "failed"
BEAT_S, LEASE_S = 15.0, 120.0
"""How often a worker that takes weights in says so, and after what silence another one may."""
INSIDE = PurePosixPath("/bundle")
WEIGHTS = "-weights"
"""Follows the bundle's slug in the name of a folder that its weights are taken in from."""


def weights_in(bundle: Bundle) -> dict[int, str]:
    """Submission's number → the folder of its weights in the archive."""
    claim = Report.from_data(bundle.report).claim
    return {each.number: each.weights for each in claim.submissions if each.weights}


def regrade_request(*, bundle: Bundle, actor: User, number: int) -> None:
    """Queue a submission whose weights the archive holds. Raises: ValidationError."""
    if bundle.state not in ACCEPTED or bundle.run is None:
        raise ValidationError({"state": "Only an accepted bundle can be graded here."})
    if number not in weights_in(bundle):
        raise ValidationError({"number": f"The archive holds no weights of submission {number}."})
    run = bundle.run
    task = tasks().get(run.task)
    if task is None:
        raise ValidationError({"number": f"There is no task {run.task} here."})
    if run.protocol != protocol_in_force(task):
        told = f"The scores were claimed under {run.protocol}, and {protocol_in_force(task)} is in force here."
        raise ValidationError({"number": told + " A score under another protocol is no re-grade."})
    with transaction.atomic():
        if not Submission.objects.filter(run=run, number=number).update(intake={"regrade": ASKED}):
            raise ValidationError({"number": f"The run has no submission {number}."})
        audit_record(actor=actor, action="bundle.regrade", subject=bundle, number=number)
        job_send_on_commit("bundles.jobs.regrades_take")


def regrade_next() -> bool:
    """Take in the weights of one submission that waits; False when there is none."""
    for submission in Submission.objects.filter(
        run__origin=Origin.EXTERNAL, intake__regrade=ASKED, lease=""
    ).select_related("run")[:20]:
        if not archive_here(Bundle.objects.get(run=submission.run)):
            continue
        lease = uuid4().hex
        mine = Submission.objects.filter(pk=submission.pk, lease="", intake__regrade=ASKED)
        if mine.update(lease=lease, lease_at=timezone.now()):
            held = Submission.objects.filter(pk=submission.pk, lease=lease)
            with repeated(partial(_beat, held), every_s=BEAT_S, name=f"weights-{submission.pk}"):
                _take(submission)
            return True
    return False


def _beat(held: QuerySet[Submission]) -> None:
    held.update(lease_at=timezone.now())


def regrades_free() -> None:
    """Give back what a lost worker held."""
    late = timezone.now() - timedelta(seconds=LEASE_S)
    Submission.objects.filter(intake__regrade=ASKED, lease_at__lt=late).exclude(lease="").update(lease="")


def _take(submission: Submission) -> None:
    bundle = Bundle.objects.get(run=submission.run)
    quarantine = Path(settings.BUNDLES_DIR) / "checking"
    quarantine.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{bundle.slug}{WEIGHTS}-", dir=quarantine))
    try:
        report = _intake(submission, bundle, folder)
        refusal = next((each for each in report.findings if each.refuses or each.code.startswith("I_")), None)
        if refusal is not None or not report.digest:
            _fail(submission, bundle, refusal.message if refusal else "no digest")
        elif submission.digest and submission.digest != report.digest:
            _fail(submission, bundle, "the weights in the archive are not the checkpoint whose digest it names")
        else:
            _queue(submission, report)
    except Exception as error:
        log.exception("the weights of %s could not be taken in", submission)
        _fail(submission, bundle, f"{type(error).__name__}: {error}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _intake(submission: Submission, bundle: Bundle, folder: Path) -> IntakeReport:
    unpacked_apart(bundle, into=folder)
    return checkpoint_take(
        view=View(((INSIDE, folder / "files"),)),
        workspace=INSIDE,
        model_path=weights_in(bundle)[submission.number],
        base=facts_of_base(base_folder_of(submission.run.base_model)),
        store=checkpoint_store(),
        owner=str(submission.pk),
        limits=IntakeLimits(total_bytes=int(settings.CHECKPOINT_MAX_GB * 1024**3)),
    )


def _queue(submission: Submission, report: IntakeReport) -> None:
    """Its evaluation is one like any other; `regrades_note` finds the verdict by the digest."""
    run = submission.run
    with transaction.atomic():
        baseline_request(run.pk, base_folder_of(run.base_model))
        run = Run.objects.get(pk=run.pk)
        evaluation, _ = Evaluation.objects.get_or_create(
            digest=report.digest,
            base_digest=run.base_digest,
            protocol=protocol_in_force(task_get(run.task)),
            engine=engine_in_force(),
            repeat=0,
            defaults={"task": run.task, "base_model": run.base_model, "state": EvaluationState.QUEUED},
        )
        evaluation_revive(evaluation)
        values = {"digest": report.digest, "size_bytes": report.bytes, "intake": {"regrade": TAKEN}, "lease": ""}
        Submission.objects.filter(pk=submission.pk).update(evaluation=evaluation, **values)
        job_send_on_commit("grading.jobs.evaluation_execute")
    run_regrades_note(run)


def _fail(submission: Submission, bundle: Bundle, why: str) -> None:
    told = {"regrade": FAILED, "why": why[:500]}
    Submission.objects.filter(pk=submission.pk).update(intake=told, lease="")
    audit_record(actor=None, action="bundle.regrade_failed", subject=bundle, number=submission.number, why=why[:500])


def regrades_fail() -> None:
    """Say of checkpoints that could not be graded here why; their claims stay claims."""
    ended = Q(evaluation__state=EvaluationState.FAULTED) | Q(evaluation__verdict__score=None, evaluation__state="done")
    found = Submission.objects.filter(ended, run__origin=Origin.EXTERNAL, intake__regrade=TAKEN)
    for submission in found.select_related("run__bundle", "evaluation__verdict"):
        evaluation = submission.evaluation
        assert evaluation is not None
        verdict = evaluation.verdict
        why = f"{verdict.code}: {verdict.message}" if verdict else str(evaluation.fault.get("message", "a fault"))
        _fail(submission, Bundle.objects.get(run=submission.run), why)


def regrades_wait() -> bool:
    """Whether weights wait to be taken in."""
    return Submission.objects.filter(intake__regrade=ASKED, lease="", run__origin=Origin.EXTERNAL).exists()
