"""Grading the same checkpoint again: further verdicts beside the first, which stays the one that counts."""

from typing import Any, ClassVar

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from benchmark.models import AuditEntry, Run
from grading.contract import Finding, RunnerVerdict
from grading.models import Evaluation, EvaluationState, Submission, Verdict
from grading.services.baselines import baseline_request
from grading.services.claims import evaluation_claim, work_waits
from grading.services.evaluations import evaluation_execute
from grading.services.places import checkpoint_store, evaluation_folder
from grading.services.repeating import REPEATS_MOST, evaluation_repeat
from grading.services.work import work_of
from tests.support.checkpoint import small_checkpoint
from tests.support.rows import baseline_row, evaluation_row, graded_row, run_row, verdict_row

pytestmark = pytest.mark.django_db(transaction=True)


class Scripted:
    """A runner that returns what it was given, in turn, and asks with each that it still holds its evaluation."""

    results: ClassVar[list[RunnerVerdict]] = []

    def run(self, *, evaluation: Evaluation, pulse: Any) -> RunnerVerdict:
        assert pulse("generating", 1, 2)
        return Scripted.results.pop(0)


@pytest.fixture(autouse=True)
def _scripted(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.GRADING_RUNNER = "tests.db.grading.test_repeats.Scripted"
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *_, **__: None)


@pytest.fixture
def submission() -> Submission:
    run = run_row()
    submission = graded_row(run, 40.0, digest="d1")
    values = {"state": EvaluationState.DONE, "verdict": submission.verdict}
    Submission.objects.filter(pk=submission.pk).update(evaluation=evaluation_row(run, "d1", **values))
    return Submission.objects.select_related("evaluation", "run").get(pk=submission.pk)


def scored(score: float) -> RunnerVerdict:
    return RunnerVerdict(protocol="arithmetic/1", score=score, n_expected=10, n_scored=10)


def work() -> int:
    """Execute what waits; how many evaluations that were."""
    done = 0
    while claim := evaluation_claim():
        evaluation_execute(claim)
        done += 1
    return done


def first_of(submission: Submission) -> Evaluation:
    assert submission.evaluation is not None
    return submission.evaluation


def test_repeats_are_further_verdicts_and_change_no_score(submission: Submission) -> None:
    first = first_of(submission)
    assert evaluation_repeat(evaluation=first, times=2, actor=None) == 2
    assert work_waits()
    Scripted.results = [scored(41.0), scored(39.5)]
    assert work() == 2
    repeats = Evaluation.objects.all().repeats_of(first)
    assert [(row.repeat, row.state, row.verdict and row.verdict.score) for row in repeats] == [
        (1, "done", 41.0),
        (2, "done", 39.5),
    ]
    submission.refresh_from_db()
    assert (submission.score, submission.evaluation_id) == (40.0, first.pk)
    assert Verdict.objects.count() == 3
    assert submission.run.standings.get().best == 40.0
    assert not work_waits()
    assert AuditEntry.objects.get(action="evaluation.repeat").data == {"times": 2}


def test_a_repeat_starts_from_nothing(submission: Submission) -> None:
    first = first_of(submission)
    evaluation_repeat(evaluation=first, times=1, actor=None)
    again = Evaluation.objects.all().repeats_of(first).get()
    assert evaluation_folder(again) != evaluation_folder(first)


def test_more_repeats_go_on_counting_up_to_a_limit(submission: Submission) -> None:
    first = first_of(submission)
    evaluation_repeat(evaluation=first, times=1, actor=None)
    assert evaluation_repeat(evaluation=first, times=REPEATS_MOST - 1, actor=None) == REPEATS_MOST
    for times in (1, 0, -1):
        with pytest.raises(ValidationError, match="up to 0 further times"):
            evaluation_repeat(evaluation=first, times=times, actor=None)
    assert Evaluation.objects.all().repeats_of(first).count() == REPEATS_MOST


def test_a_failed_repeat_is_tried_again_when_asked(submission: Submission, settings: Any) -> None:
    settings.EVALUATION_ATTEMPTS = 1
    first = first_of(submission)
    evaluation_repeat(evaluation=first, times=1, actor=None)
    fault = Finding("I_ENGINE", "engine down")
    Scripted.results = [RunnerVerdict("p", score=None, n_expected=1, n_scored=0, fault="infra", finding=fault)]
    assert work() == 1
    failed = Evaluation.objects.all().repeats_of(first).get()
    assert (failed.state, failed.verdict) == (EvaluationState.FAULTED, None)
    evaluation_repeat(evaluation=first, times=1, actor=None)
    Scripted.results = [scored(1.0), scored(2.0)]
    assert work() == 2


@pytest.mark.parametrize("values", [{"state": EvaluationState.QUEUED}, {"state": EvaluationState.FAULTED}])
def test_what_has_no_score_cannot_be_repeated(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="no score yet"):
        evaluation_repeat(evaluation=evaluation_row(run_row(), "d2", **values), times=1, actor=None)
    refused = evaluation_row(run := run_row(token_hash="x"), "d3", state="done", verdict=verdict_row(run, None))
    with pytest.raises(ValidationError, match="no score yet"):
        evaluation_repeat(evaluation=refused, times=1, actor=None)


def test_repeats_wait_where_their_checkpoint_lies(submission: Submission, settings: Any) -> None:
    evaluation_repeat(evaluation=first_of(submission), times=1, actor=None)
    settings.PLACE = "another-host"
    assert evaluation_claim() is None
    settings.PLACE = ""
    claim = evaluation_claim()
    assert claim is not None
    assert claim.evaluation.repeat == 1


def test_a_baseline_is_repeated_from_the_base_model_itself(settings: Any) -> None:
    run = run_row()
    baseline = baseline_row(run, 10.0)
    evaluation_repeat(evaluation=baseline, times=1, actor=None)
    claim = evaluation_claim()
    assert claim is not None
    assert (claim.evaluation.repeat, claim.evaluation.is_baseline) == (1, True)
    told = work_of(claim.evaluation)
    assert told.checkpoint == told.reference
    assert checkpoint_store() not in (told.checkpoint or checkpoint_store()).parents
    Scripted.results = [scored(12.0)]
    evaluation_execute(claim)
    assert run.standings.get().baseline == 10.0


def test_later_runs_find_the_first_evaluation(tmp_path: Any) -> None:
    """A baseline that was repeated is still one evaluation to the runs that share it."""
    base = small_checkpoint(tmp_path / "base")
    run, later = run_row(), run_row(token_hash="x")
    baseline_request(run.pk, base)
    shared = Evaluation.objects.get()
    Evaluation.objects.filter(pk=shared.pk).update(state="done", verdict=verdict_row(run, 5.0))
    shared.refresh_from_db()
    evaluation_repeat(evaluation=shared, times=1, actor=None)
    baseline_request(later.pk, base)
    assert Evaluation.objects.count() == 2
    assert Run.objects.get(pk=later.pk).baselines.get().evaluation == shared


def test_the_command(submission: Submission, capsys: pytest.CaptureFixture[str]) -> None:
    slug = submission.run.slug
    call_command("regrade", slug, "1", "--times", "3")
    assert f"3 repeats of {slug} #1" in capsys.readouterr().out
    with pytest.raises(CommandError, match="up to 17 further times"):
        call_command("regrade", slug, "1", "--times", "99")
    with pytest.raises(CommandError, match="no submission 7"):
        call_command("regrade", slug, "7")
