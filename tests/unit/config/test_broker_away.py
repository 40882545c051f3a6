"""A worker outlives its broker, however long that is away: what it drives has nothing to do with it."""

import pytest
from kombu import Connection

from config.celery import app
from tests.support.platform import free_port

TRIES = 120


class EnoughError(Exception):
    pass


def test_a_worker_never_gives_its_broker_up() -> None:
    tried = []

    def refused(error: Exception, interval: float) -> None:
        tried.append(error)
        if len(tried) == TRIES:
            raise EnoughError

    with Connection(f"redis://127.0.0.1:{free_port()}/0") as broker, pytest.raises(EnoughError):
        # As celery.worker.consumer.Consumer.connect does, without its pauses.
        broker.ensure_connection(refused, app.conf.broker_connection_max_retries, 0, 0, 0)
