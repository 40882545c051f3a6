"""What grading keeps and may let go: checkpoints that nobody waits for, and evaluations that nobody knows any more."""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from benchmark.services.pruning import Prunable, is_old
from grading.models import Evaluation, EvaluationState, Submission, SubmissionState, TaskStanding
from grading.services.places import checkpoint_store

OPEN = (SubmissionState.RECEIVED, SubmissionState.QUEUED, SubmissionState.GRADING)


def grading_prunable(*, days: float, keep_best: bool = True) -> Iterator[Prunable]:
    """Private copies of checkpoints older than `days` days, and evaluations' folders without a row.

    Kept whatever their age: what waits for grading, and with `keep_best` each run's best so far. Verdicts and samples
    of known evaluations stay.
    """
    needed = set(Submission.objects.filter(state__in=OPEN).values_list("digest", flat=True))
    active = (EvaluationState.QUEUED, EvaluationState.RUNNING)
    needed |= set(Evaluation.objects.filter(state__in=active).values_list("digest", flat=True))
    if keep_best:
        needed |= set(
            TaskStanding.objects.exclude(best_submission=None).values_list("best_submission__digest", flat=True)
        )
    for folder in _folders(checkpoint_store()):
        if folder.name not in needed and is_old(folder, days * 86400):
            yield Prunable(folder, f"a checkpoint that was taken in more than {days:g} days ago")
    folders = {path.name: path for path in _folders(Path(settings.DATA_DIR) / "evaluations")}
    numbers = [int(name) for name in folders if name.isdigit()]
    known = {str(pk) for pk in Evaluation.objects.filter(pk__in=numbers).values_list("pk", flat=True)}
    for name in sorted(folders.keys() - known):
        if is_old(folders[name]):
            yield Prunable(folders[name], "its evaluation was deleted")


def _folders(parent: Path) -> list[Path]:
    return sorted(path for path in parent.glob("*") if path.is_dir() and not path.is_symlink())
