"""What a worker does beside its jobs goes on whatever one round of it comes to."""

import threading
from collections.abc import Callable

import pytest
from django.db import DatabaseError, InterfaceError

from benchmark.sandbox.contract import SandboxFault
from benchmark.services import worker_duties
from benchmark.services.pulse import repeated

pytestmark = pytest.mark.django_db(transaction=True)


def failing(error: Exception) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    "error", [DatabaseError("away"), InterfaceError("closed"), SandboxFault("no Docker"), PermissionError("not ours")]
)
def test_a_round_that_fails_is_logged_and_the_next_one_comes(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    worker_duties._quietly(failing(error))
    assert str(error) in caplog.text


def test_a_beat_goes_on_when_the_connection_was_cut() -> None:
    times, twice = [0], threading.Event()

    def beat() -> None:
        times[0] += 1
        if times[0] == 2:
            twice.set()
        raise InterfaceError("connection already closed")

    with repeated(beat, every_s=0.01, name="beat"):
        assert twice.wait(60)
