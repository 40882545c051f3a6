"""Submissions, evaluations, verdicts."""

from grading.models.baseline import Baseline
from grading.models.evaluation import Evaluation, EvaluationState
from grading.models.standing import Ended, TaskStanding
from grading.models.submission import ENDED, Submission, SubmissionState
from grading.models.verdict import Verdict

__all__ = [
    "ENDED",
    "Baseline",
    "Ended",
    "Evaluation",
    "EvaluationState",
    "Submission",
    "SubmissionState",
    "TaskStanding",
    "Verdict",
]
