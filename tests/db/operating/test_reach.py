"""Nobody is declared lost, and nothing is taken from anybody, by a worker that could not have heard of them."""

import threading
import time
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


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, settings: Any) -> reach.Reach:
    """A process whose heartbeats are due every 0.1 s."""
    settings.HEARTBEAT_S = 0.1
    monkeypatch.setattr(reach, "RECOVERY_S", 0.6)
    made = reach.Reach()
    monkeypatch.setattr(adoption, "REACH", made)
    return made


def silent_run() -> Run:
    long_ago = timezone.now() - timedelta(hours=1)
    return run_row(state=RunState.RUNNING, lease="theirs", heartbeat_at=long_ago, sandbox="bubblewrap")


def beaten_until_told(own: reach.Reach) -> float:
    began = time.monotonic()
    while not own.tells():
        own.kept()
        time.sleep(0.02)
        assert time.monotonic() - began < 30
    return time.monotonic() - began


def test_without_heartbeats_of_ones_own_silence_counts_at_once(own: reach.Reach) -> None:
    run = silent_run()
    assert runs_lost() == [run]


def test_a_worker_that_has_just_begun_waits_for_two_heartbeats(own: reach.Reach) -> None:
    run = silent_run()
    own.begin()
    assert runs_lost() == []
    assert beaten_until_told(own) >= 0.15
    assert runs_lost() == [run]


@pytest.mark.parametrize("how", ["an error", "a long wait", "silence of its own"])
def test_after_an_outage_others_are_given_time(own: reach.Reach, how: str) -> None:
    silent_run()
    own.begin()
    beaten_until_told(own)
    if how == "an error":
        own.lost()
    elif how == "silence of its own":
        time.sleep(0.3)
    own.kept(5.0 if how == "a long wait" else 0.0)
    assert runs_lost() == []
    assert beaten_until_told(own) >= 0.55


def test_a_run_is_taken_over_while_another_lease_holds_it(own: reach.Reach) -> None:
    run = silent_run()
    lost = threading.Event()
    lost.set()
    assert run_taken_over(Hold(run.pk, "mine", lost=lost))
    assert not run_taken_over(Hold(run.pk, "mine"))
    assert not run_taken_over(Hold(run.pk, "theirs", lost=lost))
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHING)
    assert not run_taken_over(Hold(run.pk, "mine", lost=lost))
