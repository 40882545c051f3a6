"""The evaluation queue: one at a time within a run, fair between runs, faults never scored."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from benchmark.models import EventKind, RunEvent, RunState
from benchmark.sandbox.contract import SandboxFault
from grading.contract import Finding, RunnerVerdict
from grading.models import Evaluation, EvaluationState, Submission, SubmissionState, Verdict
from grading.ports import HoldLost
from grading.services.claims import Claim, evaluation_claim
from grading.services.evaluations import evaluation_execute
from grading.services.sweeping import grading_mend
from tests.support.rows import baseline_row, evaluation_row, graded_row, run_row, submission_row

pytestmark = pytest.mark.django_db(transaction=True)


class Scripted:
    """A runner that returns or raises what it was given."""

    result: Any = None

    def run(self, *, evaluation: Evaluation, pulse: Any) -> RunnerVerdict:
        pulse("generating", 1, 2)
        if isinstance(Scripted.result, Exception):
            raise Scripted.result
        assert isinstance(Scripted.result, RunnerVerdict)
        return Scripted.result


@pytest.fixture(autouse=True)
def _scripted(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.GRADING_RUNNER = "tests.db.grading.test_queue.Scripted"
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *_, **__: None)


def scored(score: float) -> RunnerVerdict:
    return RunnerVerdict(protocol="arithmetic/1", score=score, n_expected=10, n_scored=10)


def queued(run: Any, digest: str, **values: Any) -> Submission:
    evaluation = Evaluation.objects.filter(digest=digest).first() or evaluation_row(run, digest)
    return submission_row(run, state=SubmissionState.QUEUED, digest=digest, evaluation=evaluation, **values)


def claimed() -> Claim:
    claim = evaluation_claim()
    assert claim is not None
    return claim


def test_a_run_has_one_submission_in_grading_at_a_time() -> None:
    run = run_row()
    first, second = queued(run, "d1"), queued(run, "d2")
    claim = claimed()
    assert claim.evaluation.digest == "d1"
    assert evaluation_claim() is None
    Scripted.result = scored(20.0)
    evaluation_execute(claim)
    first.refresh_from_db()
    assert (first.state, first.score) == (SubmissionState.GRADED, 20.0)
    assert claimed().evaluation.digest == "d2"
    second.refresh_from_db()
    assert second.state == SubmissionState.GRADING


def test_the_database_itself_refuses_a_second_one_in_grading() -> None:
    run = run_row()
    submission_row(run, state=SubmissionState.GRADING)
    with pytest.raises(IntegrityError), transaction.atomic():
        submission_row(run, state=SubmissionState.GRADING)


def test_a_busy_run_does_not_starve_another() -> None:
    busy, other = run_row(), run_row(token_hash="x")
    graded_row(busy, 5.0)
    for n in range(5):
        queued(busy, f"busy{n}")
    queued(other, "other")
    assert claimed().evaluation.digest == "other"


def test_the_same_files_are_evaluated_once_and_answer_everybody() -> None:
    one, two = run_row(), run_row(token_hash="x")
    a, b, c = queued(one, "same"), queued(one, "same"), queued(two, "same")
    Scripted.result = scored(33.0)
    claim = claimed()
    evaluation_execute(claim)
    assert evaluation_claim() is None
    for row in (a, b, c):
        row.refresh_from_db()
    assert {row.score for row in (a, b, c)} == {33.0}
    assert (a.same_as, b.same_as, c.same_as) == ("", "#1", f"{one.slug} #1")
    assert Verdict.objects.count() == 1


def test_a_copy_of_the_base_gets_the_baseline() -> None:
    run = run_row()
    baseline = baseline_row(run, 12.0)
    copy = submission_row(run, state=SubmissionState.QUEUED, evaluation=baseline)
    assert evaluation_claim() is None
    copy.refresh_from_db()
    assert (copy.state, copy.score, copy.same_as) == (SubmissionState.GRADED, 12.0, "baseline")


@pytest.mark.parametrize("result", [RuntimeError("boom"), None])
def test_a_fault_of_ours_is_retried_and_never_scored(settings: Any, result: Any) -> None:
    settings.EVALUATION_ATTEMPTS = 2
    run = run_row()
    row = queued(run, "d1")
    Scripted.result = result or RunnerVerdict(
        protocol="p", score=None, n_expected=1, n_scored=0, fault="infra", finding=Finding("I_ENGINE", "engine down")
    )
    evaluation_execute(claimed())
    row.refresh_from_db()
    assert row.state == SubmissionState.QUEUED
    evaluation_execute(claimed())
    row.refresh_from_db()
    assert row.state == SubmissionState.ERRORED
    assert row.verdict is not None
    assert row.verdict.score is None
    assert row.verdict.code.startswith("I_")
    assert evaluation_claim() is None


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"n_scored": 9}, "Only 9 of 10 items were scored."),
        ({"n_scored": 0, "n_expected": 0}, "Only 0 of 0 items were scored."),
        ({"score": None}, "the score None, which is none"),
        ({"score": float("nan")}, "the score nan, which is none"),
        ({"score": float("inf")}, "the score inf, which is none"),
        ({"score": 100.1}, "the score 100.1, which is none"),
        ({"score": -0.1}, "the score -0.1, which is none"),
    ],
)
def test_a_score_that_cannot_be_is_a_fault_of_ours(settings: Any, told: dict[str, Any], why: str) -> None:
    settings.EVALUATION_ATTEMPTS = 1
    row = queued(run_row(), "d1")
    Scripted.result = replace(scored(50.0), **told)
    evaluation_execute(claimed())
    row.refresh_from_db()
    assert (row.state, row.score) == (SubmissionState.ERRORED, None)
    assert row.verdict is not None
    assert row.verdict.code == "I_VERDICT"
    assert why in row.verdict.message


def test_a_fault_of_the_checkpoint_rejects_it_at_once() -> None:
    run = run_row()
    row = queued(run, "d1")
    finding = Finding("E_KEYS", "missing", "strip the prefix")
    Scripted.result = RunnerVerdict(
        protocol="p", score=None, n_expected=1, n_scored=0, fault="artifact", finding=finding
    )
    evaluation_execute(claimed())
    row.refresh_from_db()
    assert (row.state, row.score) == (SubmissionState.REJECTED, None)
    assert row.verdict is not None
    assert row.verdict.fix == "strip the prefix"


def test_a_worker_that_stops_gives_the_evaluation_back_without_using_an_attempt() -> None:
    run = run_row()
    row = queued(run, "d1")
    Scripted.result = HoldLost()
    evaluation_execute(claimed())
    row.refresh_from_db()
    evaluation = Evaluation.objects.get()
    assert (row.state, evaluation.state, evaluation.attempts) == ("queued", EvaluationState.QUEUED, 0)


def test_a_silent_worker_loses_its_evaluation_and_its_late_report_changes_nothing() -> None:
    run = run_row()
    row = queued(run, "d1")
    late = claimed()
    Evaluation.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))
    grading_mend()
    row.refresh_from_db()
    assert row.state == SubmissionState.QUEUED
    current = claimed()
    Evaluation.objects.filter(pk=late.evaluation.pk).update(heartbeat_at=timezone.now())
    assert late.pulse("generating", 9, 10) is False
    Scripted.result = scored(99.0)
    evaluation_execute(late)
    row.refresh_from_db()
    assert row.score is None
    evaluation_execute(current)
    row.refresh_from_db()
    assert row.score == 99.0


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -0.5, 100.5])
def test_a_score_that_is_no_score_is_a_fault(settings: Any, score: float) -> None:
    settings.EVALUATION_ATTEMPTS = 1
    run = run_row()
    row = queued(run, "d1")
    Scripted.result = scored(score)
    evaluation_execute(claimed())
    row.refresh_from_db()
    assert (row.state, row.score) == (SubmissionState.ERRORED, None)


def test_the_last_verdict_ends_a_finishing_run() -> None:
    run = run_row(state=RunState.FINISHING, outcome=RunState.TIMED_OUT, ended_at=timezone.now())
    queued(run, "d1")
    Scripted.result = scored(1.0)
    evaluation_execute(claimed())
    run.refresh_from_db()
    assert run.state == RunState.TIMED_OUT


def test_every_change_is_an_event_in_order() -> None:
    run = run_row()
    queued(run, "d1")
    Scripted.result = scored(50.0)
    evaluation_execute(claimed())
    events = list(RunEvent.objects.filter(run=run).values_list("seq", "kind", "data__state"))
    assert [seq for seq, _, _ in events] == list(range(1, len(events) + 1))
    told = [state for _, kind, state in events if kind == EventKind.SUBMISSION]
    assert told == ["grading", "graded"]


def test_what_the_broker_lost_is_rung_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_row()
    row = submission_row(run, received_at=timezone.now() - timedelta(minutes=1))
    sent: list[tuple[str, Any]] = []
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda _app, name, args=(), **_: sent.append((name, args)))
    grading_mend()
    assert ("grading.jobs.submission_intake", (row.pk,)) in sent


def test_a_queued_submission_of_a_faulted_evaluation_starts_its_attempts_anew() -> None:
    run = run_row()
    row = queued(run, "d1")
    Evaluation.objects.update(state=EvaluationState.FAULTED, attempts=3, ended_at=timezone.now())
    Scripted.result = scored(7.0)
    evaluation_execute(claimed())
    row.refresh_from_db()
    assert (row.state, row.score) == (SubmissionState.GRADED, 7.0)


def test_a_submission_left_in_grading_before_its_evaluation_began_is_requeued() -> None:
    run = run_row()
    row = queued(run, "d1")
    Submission.objects.filter(pk=row.pk).update(state=SubmissionState.GRADING)
    grading_mend()
    row.refresh_from_db()
    assert row.state == SubmissionState.QUEUED


def test_a_worker_without_docker_mends_what_another_one_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_docker(_name: str) -> None:
        raise SandboxFault("Docker does not answer")

    monkeypatch.setattr("grading.services.sweeping.sandbox_reap", without_docker)
    row = queued(run_row(), "d1")
    claimed()
    Evaluation.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))
    grading_mend()
    row.refresh_from_db()
    assert row.state == SubmissionState.QUEUED


def test_nobody_waiting_ends_an_evaluation() -> None:
    run = run_row()
    row = queued(run, "d1")
    claim = claimed()
    assert claim.pulse("generating", 1, 10) is True
    Submission.objects.filter(pk=row.pk).update(state=SubmissionState.ERRORED)
    claim.beat_at = claim.asked_at = 0.0
    assert claim.pulse("generating", 2, 10) is False


def test_a_worker_that_stops_takes_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Event

    from benchmark.services import worker_beat
    from grading import jobs

    stopping = Event()
    stopping.set()
    monkeypatch.setattr(worker_beat, "STOPPING", stopping)
    run = run_row()
    row = queued(run, "d1")
    jobs.evaluation_execute()
    row.refresh_from_db()
    assert row.state == SubmissionState.QUEUED


def test_a_submission_whose_intake_ends_each_worker_ends_too(settings: Any) -> None:
    settings.EVALUATION_ATTEMPTS = 2
    row = submission_row(run_row(), state=SubmissionState.RECEIVED)
    long_ago = timezone.now() - timedelta(seconds=5 * settings.HEARTBEAT_S)
    for after in (SubmissionState.RECEIVED, SubmissionState.ERRORED):
        Submission.objects.filter(pk=row.pk).update(lease="dead", lease_at=long_ago, received_at=long_ago)
        grading_mend()
        row.refresh_from_db()
        assert (row.state, row.lease) == (after, "")
    assert row.verdict is not None
    assert row.verdict.code == "I_WORKER_LOST"


def test_an_intake_is_not_taken_for_lost_while_the_database_was_just_away(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = submission_row(run_row(), state=SubmissionState.RECEIVED)
    long_ago = timezone.now() - timedelta(seconds=5 * settings.HEARTBEAT_S)
    Submission.objects.filter(pk=row.pk).update(lease="living", lease_at=long_ago, received_at=long_ago)
    monkeypatch.setattr("benchmark.services.reach.REACH.tells", lambda: False)
    grading_mend()
    row.refresh_from_db()
    assert row.lease == "living"
