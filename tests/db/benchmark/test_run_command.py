"""`manage.py run`: what it refuses, and what its exit code says of the run."""

import pytest
from django.core.management import CommandError, call_command

from benchmark.management.commands.run import Command
from benchmark.models import Run, RunState
from tests.support.rows import run_row

pytestmark = pytest.mark.django_db


def test_an_unknown_data_set_starts_no_run() -> None:
    with pytest.raises(CommandError, match="'nothing_such' is no name of a data set of reasoning-gym"):
        call_command("run", "--agent=example", "--task=reasoning-gym:nothing_such", "--base-model=tiny")
    assert not Run.objects.exists()


def test_a_run_that_failed_is_a_failure_of_the_command() -> None:
    run = run_row(state=RunState.FAILED, fault_code="task_data_unavailable", fault_detail="train.jsonl is missing.")
    with pytest.raises(CommandError, match=r"The run failed, task_data_unavailable: train.jsonl is missing\."):
        Command()._follow(run)


@pytest.mark.parametrize("state", [RunState.FINISHED, RunState.TIMED_OUT])
def test_a_run_that_ended_is_none(state: RunState) -> None:
    Command()._follow(run_row(state=state))
