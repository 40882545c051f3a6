"""Waiting for submissions to end: one look at the database serves every request of this process that waits."""

import asyncio
import logging
import time
from dataclasses import dataclass, field

from channels.db import database_sync_to_async
from django.db import DatabaseError

from grading.models import Submission

log = logging.getLogger(__name__)
QUICK_S, QUICK_FOR_S, SLOW_S = 0.01, 5.0, 0.25
"""How often to look while some request has waited for less than `QUICK_FOR_S`, and otherwise."""


@dataclass
class Endings:
    """Futures by submission, resolved by one task that runs as long as somebody waits. For one event loop."""

    waiting: dict[int, list[asyncio.Future[None]]] = field(default_factory=dict)
    quick_until: float = 0.0
    task: asyncio.Task[None] | None = None

    async def wait(self, pk: int) -> None:
        """Return once the submission has ended."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
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
        while self.waiting:
            await asyncio.sleep(QUICK_S if time.monotonic() < self.quick_until else SLOW_S)
            try:
                ended = await look(list(self.waiting))
            except DatabaseError as error:
                log.warning("could not look for ended submissions: %s", error)
                continue
            for pk in ended:
                for future in self.waiting.get(pk, []):
                    if not future.done():
                        future.set_result(None)


def ended_among(pks: list[int]) -> list[int]:
    """Those of the submissions that have ended."""
    return list(Submission.objects.filter(pk__in=pks, ended_at__isnull=False).values_list("pk", flat=True))


_endings: dict[int, Endings] = {}


async def submission_ended(pk: int) -> None:
    """Wait until a submission has ended, in whatever event loop this is."""
    loop = asyncio.get_running_loop()
    await _endings.setdefault(id(loop), Endings()).wait(pk)
