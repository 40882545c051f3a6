"""Waiting for submissions to end: one look at the database serves every request of this process that waits.

With a channel layer a doorbell says when to look; without one, or should a ring be lost, the looks come by themselves.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.db import DatabaseError, InterfaceError

from grading.models import Submission
from grading.services.submissions import ENDINGS

log = logging.getLogger(__name__)
QUICK_S, QUICK_FOR_S, SLOW_S = 0.01, 5.0, 0.25
"""How often to look without a doorbell while some request has waited for less than `QUICK_FOR_S`, and otherwise."""
LINGER_S = 30.0
"""How long to keep listening when nobody waits any more."""


@dataclass
class Endings:
    """Futures by submission, resolved by one task that runs as long as somebody waits. For one event loop."""

    waiting: dict[int, list[asyncio.Future[None]]] = field(default_factory=dict)
    quick_until: float = 0.0
    task: asyncio.Task[None] | None = None
    bell: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self, pk: int) -> None:
        """Return once the submission has ended."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if not self.waiting:
            self.bell.set()
        self.waiting.setdefault(pk, []).append(future)
        self.quick_until = time.monotonic() + QUICK_FOR_S
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._look_on())
        try:
            await future
        finally:
            self._forget(pk, future)

    def _forget(self, pk: int, future: asyncio.Future[None]) -> None:
        left = [each for each in self.waiting.get(pk, []) if each is not future]
        if left:
            self.waiting[pk] = left
        else:
            self.waiting.pop(pk, None)

    async def _look_on(self) -> None:
        look = database_sync_to_async(ended_among, thread_sensitive=False)
        async with _rung(self.bell) as has_bell:
            while self.waiting or await self._rings(LINGER_S):
                quick = not has_bell and time.monotonic() < self.quick_until
                self.bell.clear()
                await self._rings(QUICK_S if quick else SLOW_S)
                self.bell.clear()
                try:
                    self._resolve(await look(list(self.waiting)))
                except (DatabaseError, InterfaceError) as error:
                    log.warning("could not look for ended submissions: %s", error)

    def _resolve(self, ended: list[int]) -> None:
        for pk in ended:
            for future in self.waiting.pop(pk, []):
                if not future.done():
                    future.set_result(None)

    async def _rings(self, within_s: float) -> bool:
        with suppress(TimeoutError):
            return await asyncio.wait_for(self.bell.wait(), within_s)
        return False


@asynccontextmanager
async def _rung(bell: asyncio.Event) -> AsyncIterator[bool]:
    """Have the channel layer set `bell`; False: there is none."""
    layer: Any = get_channel_layer()
    if layer is None:
        yield False
        return

    async def listen() -> None:
        while True:
            try:
                await layer.receive(channel)
            except Exception as error:
                log.warning("the doorbell cannot be heard: %s", error)
                await asyncio.sleep(SLOW_S)
            bell.set()

    try:
        channel = await layer.new_channel()
        await layer.group_add(ENDINGS, channel)
    except Exception as error:
        log.warning("the doorbell cannot be heard: %s", error)
        yield False
        return
    listener = asyncio.create_task(listen())
    try:
        yield True
    finally:
        listener.cancel()
        with suppress(Exception):
            await layer.group_discard(ENDINGS, channel)


def ended_among(pks: list[int]) -> list[int]:
    """Those of the submissions that have ended."""
    return list(Submission.objects.filter(pk__in=pks, ended_at__isnull=False).values_list("pk", flat=True))


_endings: dict[int, Endings] = {}


async def submission_ended(pk: int) -> None:
    """Wait until a submission has ended, in whatever event loop this is."""
    loop = asyncio.get_running_loop()
    await _endings.setdefault(id(loop), Endings()).wait(pk)
