"""Claims that this platform has graded: by the checkpoint's digest, and from weights that a bundle brings along."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from benchmark.models import AuditEntry, Run, Trust
from bundles.jobs import bundles_sweep
from bundles.models import Bundle
from bundles.services import checking
from bundles.services.check_process import check_apart as real
from bundles.services.moderation import bundle_flag, bundle_publish
from bundles.services.regrade_request import regrade_request
from grading.models import Evaluation, EvaluationState, Submission, TaskStanding, Verdict
from grading.services.standings import standing_rebuild
from tests.db.bundles.conftest import Make
from tests.support.rows import graded_row, run_row

pytestmark = pytest.mark.django_db
DIGEST = "d" * 64


def graded_here(digest: str, score: float, protocol: str = "gsm8k/1") -> Evaluation:
    """As the grading room leaves one."""
    verdict = Verdict.objects.create(protocol=protocol, digest=digest, score=score)
    return Evaluation.objects.create(
        task="gsm8k",
        protocol=protocol,
        engine="vllm/cuda/bfloat16",
        digest=digest,
        base_model="Qwen/Qwen2.5-1.5B-Instruct",
        base_digest="b" * 64,
        state=EvaluationState.DONE,
        verdict=verdict,
        ended_at=timezone.now(),
    )


@pytest.fixture
def published(checked: Make, moderator_user: User) -> Bundle:
    """Its best submission, #3 with 70.5, names a digest."""
    bundle = checked()
    Submission.objects.filter(run=bundle.run, number=3).update(digest=DIGEST)
    Submission.objects.filter(run=bundle.run, number=1).update(digest="1" * 64)
    bundle_publish(bundle=bundle, actor=moderator_user, reviewed=True)
    return bundle


def standing(bundle: Bundle) -> TaskStanding:
    return TaskStanding.objects.select_related("run").get(run=bundle.run)


def test_the_verdict_of_the_same_checkpoint_takes_the_claims_place(published: Bundle) -> None:
    evaluation = graded_here(DIGEST, 68.25)
    graded_here("b" * 64, 59.5)
    bundles_sweep()
    row = Submission.objects.select_related("verdict").get(run=published.run, number=3)
    assert (row.verdict, row.evaluation) == (evaluation.verdict, evaluation)
    found = standing(published)
    assert (found.best, found.best_number, found.run.trust) == (68.25, 3, Trust.REGRADED)
    assert found.baseline == 59.5
    entry = AuditEntry.objects.get(action="submission.regrade")
    assert (entry.data["claimed"], entry.data["graded"]) == (70.5, 68.25)
    assert Verdict.objects.filter(protocol="claimed:gsm8k/1", score=70.5).exists()
    bundles_sweep()
    assert AuditEntry.objects.filter(action="submission.regrade").count() == 1


def test_the_report_shows_claimed_and_final(published: Bundle, anonymous: Any) -> None:
    graded_here(DIGEST, 68.25)
    bundles_sweep()
    page = anonymous.get(f"/bundles/{published.slug}/").content.decode()
    assert "<s>70.50</s>" in page
    assert "68.25" in page
    assert "graded here" in page


def test_a_run_is_regraded_only_once_what_counts_is(published: Bundle) -> None:
    graded_here("1" * 64, 60.0)
    bundles_sweep()
    found = standing(published)
    assert (found.best, found.best_number, found.run.trust) == (70.5, 3, Trust.REVIEWED)
    assert not Submission.objects.get(run=published.run, number=1).verdict.claimed  # type: ignore[union-attr]


def test_a_claimed_baseline_outlives_a_regrade_and_a_rebuild(published: Bundle) -> None:
    claimed = standing(published).baseline
    assert claimed is not None
    graded_here(DIGEST, 68.25)
    bundles_sweep()
    assert published.run is not None
    for row in (standing(published), standing_rebuild(published.run)):
        assert (row.best, row.baseline) == (68.25, claimed)


def test_a_verdict_counts_on_its_own_task_alone(published: Bundle) -> None:
    run = published.run
    assert run is not None
    Run.objects.filter(pk=run.pk).update(task_list=["gsm8k", "arithmetic"])
    Submission.objects.filter(run=run, number=1).update(task="arithmetic")
    Submission.objects.filter(run=run).exclude(number=1).update(task="gsm8k")
    other = TaskStanding.objects.create(run=run, task="arithmetic", protocol="arithmetic/1", baseline=10.0)
    run.refresh_from_db()
    standing_rebuild(run, "arithmetic")
    graded_here("1" * 64, 90.0)
    graded_here(DIGEST, 68.25)
    bundles_sweep()
    other.refresh_from_db()
    assert (other.best, other.baseline) == (Submission.objects.get(run=run, number=1).score, 10.0)
    assert Submission.objects.get(run=run, number=1).verdict.claimed  # type: ignore[union-attr]
    first = TaskStanding.objects.get(run=run, task="gsm8k")
    run.refresh_from_db()
    assert (first.best, run.trust) == (68.25, Trust.REVIEWED)
    graded_here("1" * 64, 42.0, "arithmetic/1")
    bundles_sweep()
    run.refresh_from_db()
    other.refresh_from_db()
    assert (other.best, other.baseline, run.trust) == (42.0, 10.0, Trust.REGRADED)


@pytest.mark.parametrize("protocol", ["gsm8k/2", "gsm8k/1;limit=10"])
def test_another_protocol_is_no_regrade(published: Bundle, protocol: str) -> None:
    graded_here(DIGEST, 68.25, protocol)
    bundles_sweep()
    assert standing(published).best == 70.5


def test_another_base_model_is_no_regrade(published: Bundle) -> None:
    evaluation = graded_here(DIGEST, 68.25)
    Evaluation.objects.filter(pk=evaluation.pk).update(base_model="Qwen/Qwen2.5-7B-Instruct")
    bundles_sweep()
    assert (standing(published).best, standing(published).run.trust) == (70.5, Trust.REVIEWED)


def test_whose_checkpoint_it_was_first_is_said(published: Bundle) -> None:
    first = graded_row(run_row(), 68.25)
    Submission.objects.filter(pk=first.pk).update(digest=DIGEST)
    graded_here(DIGEST, 68.25)
    bundles_sweep()
    entry = AuditEntry.objects.get(action="run.trust", data__after=Trust.REGRADED)
    assert f"run {first.run.slug} submitted the same checkpoint as its number 1" in entry.data["reason"]


def test_a_flag_outlives_a_regrade(published: Bundle, moderator_user: User) -> None:
    bundle_flag(bundle=published, actor=moderator_user, reason="Odd.", final=None)
    graded_here(DIGEST, 68.25)
    bundles_sweep()
    found = standing(published)
    assert (found.best, found.value, found.flag_reason, found.run.trust) == (68.25, None, "Odd.", Trust.FLAGGED)


def test_what_was_graded_before_the_upload_is_found_at_import(received: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    graded_here(DIGEST, 68.25)
    Evaluation.objects.update(ended_at=timezone.now() - timedelta(days=90))

    def with_digest(*args: Any, **kwargs: Any) -> Any:
        report = real(*args, **kwargs)
        rows = tuple(replace(each, digest=DIGEST) if each.number == 3 else each for each in report.claim.submissions)
        return replace(report, claim=replace(report.claim, submissions=rows))

    monkeypatch.setattr(checking, "check_apart", with_digest)
    bundle = received()
    assert checking.bundle_check_next()
    bundle.refresh_from_db()
    assert standing(bundle).run.trust == Trust.REGRADED


def test_only_weights_that_are_there_can_be_graded(published: Bundle, moderator_user: User) -> None:
    with pytest.raises(ValidationError) as caught:
        regrade_request(bundle=published, actor=moderator_user, number=3)
    assert "holds no weights" in str(caught.value)
