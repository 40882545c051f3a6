"""An agent that lives on while its provider does not help it is ended, with the reason."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.utils import timezone

from benchmark.gateway.ledger import TOO_LONG_MOST, Ledger
from benchmark.gateway.usage import Usage
from benchmark.models import Run, RunState
from benchmark.sandbox.contract import Running
from benchmark.services import watching
from benchmark.services.agent_log import LogFollower
from benchmark.services.driving import RunEnded
from benchmark.services.holding import Hold
from benchmark.services.watching import Watch


class Clock(SimpleNamespace):
    """`time.monotonic` that is moved on by hand."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("benchmark.gateway.ledger.time", made)
    monkeypatch.setattr(watching, "time", made)
    return made


def watched(ledger: Ledger, look: Callable[[int], None]) -> RunState | RunEnded:
    """How a run ends whose agent never does; `look(n)` happens before the n-th look at it. After 100 it goes on."""
    unset = SimpleNamespace(is_set=lambda: False)
    hold: Any = SimpleNamespace(cancelled=unset, lost=unset)
    follower = cast(LogFollower, SimpleNamespace(look_if_possible=lambda: None))
    run = Run(pk=1, deadline_at=timezone.now() + timedelta(hours=1))
    watch = Watch(cast(Hold, hold), run, ledger, follower)
    looks = iter(range(100))

    def wait(_: float) -> None:
        number = next(looks, None)
        if number is None:
            run.deadline_at = timezone.now()
        else:
            look(number)

    vars(watch)["account"] = lambda: None
    try:
        return watch.until_end(cast(Running, SimpleNamespace(wait=wait))).end.outcome
    except RunEnded as ended:
        return ended


@pytest.mark.parametrize(
    ("kind", "patience_s", "minutes"), [("error", 1800, 30), ("unreachable", 60, 1), ("auth", 1800, 2), ("auth", 60, 1)]
)
def test_patience_with_a_provider_ends(clock: Clock, settings: Any, kind: Any, patience_s: float, minutes: int) -> None:
    settings.PROVIDER_PATIENCE_S = patience_s
    ledger = Ledger({})
    looked = []

    def ask(number: int) -> None:
        clock.now += 60
        ledger.failed(kind, "HTTP 5")
        looked.append(number)

    ended = watched(ledger, ask)
    assert isinstance(ended, RunEnded)
    assert (ended.outcome, ended.code) == (RunState.FAILED, f"provider_{kind}")
    assert len(looked) == minutes + 2, "the first failure is one minute before the second"


def test_patience_begins_anew_with_each_answer(clock: Clock, settings: Any) -> None:
    settings.PROVIDER_PATIENCE_S = 300
    ledger = Ledger({})

    def ask(number: int) -> None:
        clock.now += 60
        if number % 5:
            ledger.failed("error", "HTTP 500")
        else:
            ledger.answered("it", Usage(input=1))

    assert watched(ledger, ask) == RunState.TIMED_OUT


def test_conversations_that_are_too_long_for_ever_end_though_others_are_answered(clock: Clock) -> None:
    ledger = Ledger({})

    def ask(number: int) -> None:
        clock.now += 1
        ledger.failed("context", "HTTP 400: prompt is too long")
        ledger.answered("it", Usage(input=1))
        assert number < TOO_LONG_MOST

    ended = watched(ledger, ask)
    assert isinstance(ended, RunEnded)
    assert (ended.outcome, ended.code) == (RunState.FAILED, "provider_context")
