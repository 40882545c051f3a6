"""Nobody is declared lost, and nothing is taken from anybody, by a worker that could not have heard of them."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from benchmark.models import Run, RunState
from benchmark.services import adoption, reach
from benchmark.services.adoption import run_taken_over, runs_lost
from benchmark.services.holding import Hold
from tests.support.rows import run_row

pytestmark = pytest.mark.django_db


class Clock:
    """Stands where `reach` has its time, which passes only when it is told to: a busy machine's own may jump."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(reach, "time", made)
    return made


@pytest.fixture
def own(clock: Clock, monkeypatch: pytest.MonkeyPatch, settings: Any) -> reach.Reach:
    """A process whose heartbeats are due every 5 s."""
    settings.HEARTBEAT_S = 5
    made = reach.Reach()
    monkeypatch.setattr(adoption, "REACH", made)
    return made


def silent_run() -> Run:
    long_ago = timezone.now() - timedelta(hours=1)
    return run_row(state=RunState.RUNNING, lease="theirs", heartbeat_at=long_ago, sandbox="bubblewrap")


def beaten_until_told(own: reach.Reach, clock: Clock) -> float:
    """Seconds of steady heartbeats until silence counts."""
    began = clock.now
    while not own.tells():
        own.kept()
        clock.sleep(1)
        assert clock.now - began < 1000
    return clock.now - began


def test_without_heartbeats_of_ones_own_silence_counts_at_once(own: reach.Reach) -> None:
    run = silent_run()
    assert runs_lost() == [run]


def test_a_worker_that_has_just_begun_waits_for_two_heartbeats(own: reach.Reach, clock: Clock) -> None:
    run = silent_run()
    own.begin()
    assert runs_lost() == []
    assert beaten_until_told(own, clock) == 10
    assert runs_lost() == [run]


def test_nobody_is_lost_while_ones_own_heartbeat_is_overdue(own: reach.Reach, clock: Clock) -> None:
    run = silent_run()
    own.begin()
    beaten_until_told(own, clock)
    own.kept()
    clock.sleep(5)
    assert runs_lost() == [run]
    clock.sleep(2)
    assert runs_lost() == []


@pytest.mark.parametrize("how", ["an error", "a long wait", "silence of its own"])
def test_after_an_outage_others_are_given_time(own: reach.Reach, clock: Clock, how: str) -> None:
    silent_run()
    own.begin()
    beaten_until_told(own, clock)
    if how == "an error":
        own.lost()
    elif how == "silence of its own":
        clock.sleep(11)
    own.kept(5.0 if how == "a long wait" else 0.0)
    assert runs_lost() == []
    assert beaten_until_told(own, clock) == reach.RECOVERY_S


def test_a_run_is_taken_over_while_another_lease_holds_it(own: reach.Reach) -> None:
    run = silent_run()
    lost = threading.Event()
    lost.set()
    assert run_taken_over(Hold(run.pk, "mine", lost=lost))
    assert not run_taken_over(Hold(run.pk, "mine"))
    assert not run_taken_over(Hold(run.pk, "theirs", lost=lost))
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHING)
    assert not run_taken_over(Hold(run.pk, "mine", lost=lost))
