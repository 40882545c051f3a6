"""An agent that is ended together with its worker has not ended by itself."""

from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.utils import timezone

from benchmark.models import Run
from benchmark.sandbox.contract import Exit, Running
from benchmark.services.agent_log import LogFollower
from benchmark.services.driving import RunEnded
from benchmark.services.holding import STOPPING, Hold
from benchmark.services.watching import TERMINATED, Watch


@pytest.fixture(autouse=True)
def _asked_to_stop() -> Iterator[None]:
    STOPPING.set()
    yield
    STOPPING.clear()


@pytest.mark.parametrize(("code", "told"), [(TERMINATED, "worker_stopped"), (0, "")])
def test_a_signal_to_the_whole_job_is_the_workers_end(monkeypatch: pytest.MonkeyPatch, code: int, told: str) -> None:
    unset = SimpleNamespace(is_set=lambda: False)
    hold: Any = SimpleNamespace(cancelled=unset, lost=unset)
    ledger: Any = SimpleNamespace(spent=lambda: None, used_up=lambda: "", trouble=lambda: None)
    follower = cast(LogFollower, SimpleNamespace(look_if_possible=lambda: None))
    run = Run(pk=1, deadline_at=timezone.now() + timedelta(seconds=60))
    watch = Watch(cast(Hold, hold), run, ledger, follower)
    monkeypatch.setattr(watch, "account", lambda: None)
    monkeypatch.setattr("benchmark.services.watching.database_patiently", lambda _: 1)
    running = cast(Running, SimpleNamespace(wait=lambda _: Exit(code)))
    if told:
        with pytest.raises(RunEnded) as ended:
            watch.until_end(running)
        assert ended.value.code == told
    else:
        assert watch.until_end(running).end.code == ""
