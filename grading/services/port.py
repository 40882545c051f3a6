"""What the benchmark room asks of grading (benchmark/ports.py)."""

from collections.abc import Sequence
from pathlib import Path

from django.db import transaction

from benchmark.gateway.routes import Route
from benchmark.models import Run
from grading.contract import Finding
from grading.models import Evaluation, EvaluationState, Submission, SubmissionState
from grading.services.baselines import baseline_request, baselines_ready
from grading.services.desks import judge_desk, search_desk
from grading.services.standings import protocol_of, standing_open
from grading.services.submissions import submission_end, verdict_of_failure

CANCELLED = Finding("R_CANCELLED", "The run was cancelled before this submission was graded.", "Start a new run.")


class GradingRoom:
    """Implements `benchmark.ports.GradingRoom`."""

    def opened(self, run: Run) -> None:
        standing_open(run)

    def baseline_request(self, run_id: int, base_folder: Path) -> None:
        baseline_request(run_id, base_folder)

    def baseline_ready(self, run_id: int) -> bool:
        return baselines_ready(run_id)

    def at_work(self) -> bool:
        return Evaluation.objects.filter(state=EvaluationState.RUNNING).exists()

    def pending(self, run_id: int) -> int:
        return Submission.objects.filter(run_id=run_id).pending().count()

    def has_submission(self, run_id: int, number: int) -> bool:
        return Submission.objects.filter(run_id=run_id, number=number).exists()

    def withdraw(self, run_id: int) -> None:
        run = Run.objects.get(pk=run_id)
        with transaction.atomic():
            for submission in Submission.objects.filter(run=run, state__in=_OPEN):
                protocol = protocol_of(run, submission.task)
                verdict = verdict_of_failure(protocol=protocol, finding=CANCELLED, digest=submission.digest)
                submission_end(submission, after=SubmissionState.ERRORED, verdict=verdict)

    def evaluation_held(self, evaluation_id: int) -> bool:
        return Evaluation.objects.filter(pk=evaluation_id, state=EvaluationState.RUNNING).exists()

    def service_routes(self, needs: Sequence[str]) -> Sequence[Route]:
        openers = {"judge": judge_desk, "search": search_desk}
        return [openers[need]().route() for need in needs]


_OPEN = (SubmissionState.RECEIVED, SubmissionState.QUEUED, SubmissionState.GRADING)
