"""The embedded default's broker: kombu's filesystem transport, with messages that appear and vanish whole.

kombu creates a message file before it fills it, so a consumer can meet an empty one and stop. Here a message is written
under another name and renamed; taking one is a rename too, which only one consumer can do.
"""

import contextlib
import os
from pathlib import Path
from queue import Empty
from typing import Any
from uuid import uuid4

from kombu.transport import TRANSPORT_ALIASES, filesystem
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


def register() -> None:
    """Make `folder://` a broker URL."""
    TRANSPORT_ALIASES["folder"] = "config.broker:Transport"
