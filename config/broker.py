"""Brokers, as kombu has them, mended where a consumer would stop.

The embedded default's is kombu's filesystem transport, with messages that appear and vanish whole: kombu creates a
message file before it fills it, so a consumer can meet an empty one. Here a message is written under another name and
renamed; taking one is a rename too, which only one consumer can do.
"""

import contextlib
import os
from pathlib import Path
from queue import Empty
from typing import Any
from uuid import uuid4

from kombu.transport import TRANSPORT_ALIASES, filesystem, redis
from kombu.utils.json import dumps, loads


class Channel(filesystem.Channel):
    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:  # type: ignore[override]  # kombu passes more
        folder = Path(self.data_folder_out)
        name = uuid4().hex
        draft = folder / f"{name}.draft"
        draft.write_text(dumps(message))
        draft.rename(folder / f"{draft.stat().st_mtime_ns}-{name}.{queue}.msg")

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        folder = Path(self.data_folder_in)
        for name in sorted(name for name in os.listdir(folder) if name.partition(".")[2] == f"{queue}.msg"):
            mine = folder / f"{name}.taken"
            with contextlib.suppress(FileNotFoundError):
                (folder / name).rename(mine)
                text = mine.read_text()
                mine.unlink()
                return loads(text)
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel


class RedisQoS(redis.QoS):
    """Messages that were taken and have not begun when the broker was lost stay with it.

    Celery 5.7 closes a lost connection twice. The second time it has no address any more, and giving messages back ends
    the worker with an AttributeError. Each is only a doorbell, which the next sweep rings again.
    """

    def restore_unacked(self, client: Any = None) -> Any:
        return super().restore_unacked(client) if self.channel.connection.client is not None else []


class RedisChannel(redis.Channel):
    QoS = RedisQoS


class RedisTransport(redis.Transport):
    Channel = RedisChannel


def register() -> None:
    """Make `folder://` a broker URL, and Redis one that can be lost."""
    TRANSPORT_ALIASES["folder"] = "config.broker:Transport"
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = "config.broker:RedisTransport"
