"""A worker outlives its broker, however long that is away: what it drives has nothing to do with it."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kombu import Queue
from kombu.common import ignore_errors

from config.celery import app
from tests.support.own_services import Service, killable_redis
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

    with app.connection_for_read(f"redis://127.0.0.1:{free_port()}/0") as broker, pytest.raises(EnoughError):
        # As celery.worker.consumer.Consumer.connect does, without its pauses.
        broker.ensure_connection(refused, app.conf.broker_connection_max_retries, 0, 0, 0)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[tuple[Service, str]]:
    """To be killed, and its URL."""
    with killable_redis(tmp_path) as found:
        yield found


def test_it_lets_go_of_one_that_was_killed_while_messages_waited(redis: tuple[Service, str]) -> None:
    service, url = redis
    taken: list[object] = []
    broker = app.connection_for_read(url)
    broker.ensure_connection(None, 60, 0, 1, 1)
    # As many as a worker has: for jobs, and for what is said to all workers.
    channels: list[Any] = [broker.default_channel, broker.channel()]
    for name, channel in zip(("jobs", "all"), channels, strict=True):
        queue = Queue(name, channel=channel)
        broker.Consumer(queue, channel=channel, callbacks=[lambda body, _: taken.append(body)]).consume()
        queue.declare()
    broker.Producer().publish("ring", routing_key="jobs")
    while not taken:
        broker.drain_events(timeout=60)
    for channel in channels:
        # Each waits for its next message.
        if not channel._in_poll:
            channel._brpop_start(60)
    service.kill()
    # As celery.worker.consumer.Consumer.on_connection_error_after_connected does.
    with contextlib.suppress(Exception):
        broker.collect(0.1)
    ignore_errors(broker, broker.close)
