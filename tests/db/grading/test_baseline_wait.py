"""How long a run waits for its baseline."""

from threading import Thread
from typing import Any

import pytest
from django.db import connection

from benchmark.models import Run, RunState
from benchmark.services import preparing
from benchmark.services.driving import LOOK_S, RunEnded
from benchmark.services.holding import Hold
from grading.models import Baseline, Evaluation, EvaluationState
from tests.support.rows import baseline_row, evaluation_row, run_row

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(settings: Any) -> Run:
    """In preparation, with its baseline in the queue; nobody's patience outlasts two looks."""
    settings.BASELINE_WAIT_S = LOOK_S / 4
    run = run_row(state=RunState.PREPARING)
    Baseline.objects.create(run=run, evaluation=evaluation_row(run, run.base_digest))
    return run


def test_where_nobody_grades_the_run_ends_before_its_agent_starts(run: Run) -> None:
    with pytest.raises(RunEnded, match="No worker graded anything for") as ended:
        preparing._baseline_await(Hold(run.pk, "lease"))
    assert (ended.value.outcome, ended.value.code) == (RunState.FAILED, "baseline_not_graded")


def test_a_queue_that_moves_is_waited_for(run: Run) -> None:
    other = evaluation_row(run, "d1", state=EvaluationState.RUNNING)
    ended: list[RunEnded] = []
    hold = Hold(run.pk, "lease")

    def wait() -> None:
        try:
            preparing._baseline_await(hold)
        except RunEnded as end:
            ended.append(end)
        finally:
            connection.close()

    waiting = Thread(target=wait)
    waiting.start()
    waiting.join(4 * LOOK_S)
    assert waiting.is_alive()
    Evaluation.objects.filter(pk=other.pk).update(state=EvaluationState.DONE)
    waiting.join(60)
    assert [end.code for end in ended] == ["baseline_not_graded"]


def test_a_scored_baseline_is_not_waited_for(settings: Any) -> None:
    settings.BASELINE_WAIT_S = 0
    run = run_row(state=RunState.PREPARING)
    baseline_row(run)
    preparing._baseline_await(Hold(run.pk, "lease"))
