"""What beats beside the work."""

import threading
import time

import pytest
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from benchmark.services.pulse import repeated
from tests.support.waiting import until


@pytest.mark.django_db(transaction=True)
def test_between_two_beats_no_connection_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 0)
    beaten, theirs = threading.Event(), list[BaseDatabaseWrapper]()

    def beat() -> None:
        connection.ensure_connection()
        theirs.append(connections["default"])
        beaten.set()

    def resting() -> bool:
        """Seen several times in a row: a thread that is about to beat has none for a moment as well."""
        looks = []
        for _ in range(5):
            looks.append(theirs[-1].connection)
            time.sleep(0.02)
        return not any(looks)

    with repeated(beat, every_s=1, name="beat"):
        assert beaten.wait(60)
        until(resting)
