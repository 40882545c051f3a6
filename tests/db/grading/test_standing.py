"""What ends of submissions make of a run's standing on a task, in whatever order they come."""

from itertools import permutations

import pytest
from django.utils import timezone

from grading.models import TaskStanding
from grading.models.standing import Ended
from tests.support.rows import graded_row, run_row

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("order", permutations((1, 2, 3)))
def test_of_equal_scores_the_first_submissions_counts(order: tuple[int, ...]) -> None:
    run = run_row()
    rows = {number: graded_row(run, score) for number, score in ((1, 20.0), (2, 60.0), (3, 60.0))}
    TaskStanding.objects.filter(run=run).delete()
    TaskStanding.objects.create(run=run, task=run.task, protocol="p/1")
    for number in order:
        row = rows[number]
        score = row.verdict.score if row.verdict else None
        ended = Ended(run.pk, run.task, row.pk, number, timezone.now(), 1.0, score, None)
        assert TaskStanding.objects.take(ended) == (True, None)
    found = TaskStanding.objects.get(run=run)
    assert (found.best, found.best_number, found.best_submission_id) == (60.0, 2, rows[2].pk)
    assert (found.submissions, found.scored) == (3, 3)
