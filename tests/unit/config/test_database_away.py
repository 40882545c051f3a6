"""What waits for a database server that is away: a process until it is back, a command not at all."""

import threading
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import MagicMock

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolClosed

from config.database import HASTY, database_from_url
from tests.support.waiting import LONG_S, until


class Server:
    """Stands in for `psycopg.Connection`: connections are refused until it is back."""

    def __init__(self) -> None:
        self.back, self.tries = threading.Event(), 0

    def connect(self, *_: object, **__: object) -> Any:
        self.tries += 1
        if not self.back.is_set():
            raise psycopg.OperationalError("connection refused")
        return MagicMock(**{"pgconn.transaction_status": TransactionStatus.IDLE})


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def pool(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], ConnectionPool[Any]]]:
    """The pool of our settings, which gives up sooner."""
    options = database_from_url("postgresql://a@h/x", pool_size=5)["OPTIONS"]["pool"]
    made: list[ConnectionPool[Any]] = []

    def make() -> ConnectionPool[Any]:
        given = {**options, "reconnect_timeout": 0.1, "timeout": LONG_S, "connection_class": server}
        made.append(ConnectionPool("", open=True, **given))
        return made[0]

    yield make
    for each in made:
        each.close()


def test_who_waits_already_is_served_once_the_server_is_back(
    server: Server, pool: Callable[[], ConnectionPool[Any]]
) -> None:
    ours, got = pool(), []
    waiting = [threading.Thread(target=lambda: got.append(ours.getconn())) for _ in range(3)]
    for thread in waiting:
        thread.start()
    # Far more often than before the pool gives up for the first time.
    until(lambda: server.tries >= 12, "it tries again and again")
    server.back.set()
    for thread in waiting:
        thread.join(LONG_S)
    assert len(got) == 3


def test_a_command_that_never_reached_it_hears_so(
    server: Server, pool: Callable[[], ConnectionPool[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Event()
    asked.set()
    monkeypatch.setattr("config.database.HASTY", asked)
    with pytest.raises(PoolClosed):
        pool().getconn()
    assert server.tries < 12
    assert not HASTY.is_set()


def test_a_command_that_had_reached_it_waits_for_it(
    server: Server, pool: Callable[[], ConnectionPool[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("config.database.HASTY", MagicMock(**{"is_set.return_value": True}))
    server.back.set()
    ours, got = pool(), []
    ours.getconn()
    until(lambda: ours.get_stats()["pool_size"] == ours.get_stats().get("pool_available", 0) + 1, "it grows no more")
    server.back.clear()
    for _ in range(ours.get_stats().get("pool_available", 0)):
        ours.getconn()
    before = server.tries
    waiting = threading.Thread(target=lambda: got.append(ours.getconn()))
    waiting.start()
    until(lambda: server.tries >= before + 12, "it tries again and again")
    server.back.set()
    waiting.join(LONG_S)
    assert len(got) == 1
