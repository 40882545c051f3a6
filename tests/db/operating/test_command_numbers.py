"""Numbers on the command line that cannot be are refused with a sentence, before anything happens."""

import pytest
from django.core.management import CommandError, call_command

from benchmark.management.commands.run import seconds
from frontend.forms import budget_seconds
from frontend.management.commands.demo import free_port


@pytest.mark.parametrize("text", ["9" * 400 + "d", "-5m", "5w", "", "1e3s", "nan"])
def test_a_budget_that_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        seconds(text)
    with pytest.raises(ValueError, match="not a time"):
        budget_seconds(text)


@pytest.mark.parametrize("port", [-1, 0, 65_536, 99_999])
def test_a_port_that_is_none(port: int) -> None:
    with pytest.raises(CommandError, match="from 1 to 65535"):
        free_port(port)


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "999999", "two"])
def test_an_age_that_is_none(text: str) -> None:
    with pytest.raises(CommandError, match="is no number of days"):
        call_command("prune", f"--workspaces-days={text}", "--dry-run")


def test_a_queue_that_is_none() -> None:
    with pytest.raises(CommandError, match="There is no queue 'nonsense'; known are agents, default, grading"):
        call_command("worker", "--queues", "default,nonsense")
