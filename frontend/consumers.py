"""The live log of a run over a websocket.

The client says how far it has come, `{"after": seq}`, and gets everything after it in batches
`{"events": [{seq, kind, at, data}], "seq": n, "now": iso}`, then what follows. `{"log": {size, tail}}` comes beside
them when the agent has printed something. The database is the truth: a doorbell only shortens the wait.
"""

import asyncio
import json
import logging
import time
from contextlib import suppress
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.utils import timezone

from benchmark.services.doorbell import group_of
from frontend.live import BATCH, Pulse, events_after, log_tail, pulse, run_find

LOOK_S, SAFETY_S = 0.2, 5.0
"""Between looks at the log: without a channel layer, and with one or after the run's end."""
LOG_EVERY_S = 0.5
UNKNOWN_RUN, BAD_MESSAGE, TRY_AGAIN = 4404, 4400, 1011

log = logging.getLogger(__name__)


class RunConsumer(AsyncJsonWebsocketConsumer):
    """One watcher of one run. Whoever may see its page may watch."""

    run_id: int | None = None
    follower: "asyncio.Task[None] | None" = None

    async def connect(self) -> None:
        self.bell = asyncio.Event()
        self.run_id = await database_sync_to_async(run_find)(
            self.scope["url_route"]["kwargs"]["slug"], self.scope.get("user")
        )
        await self.accept()
        if self.run_id is None:
            await self.close(code=UNKNOWN_RUN)
        elif self.channel_layer is not None:
            await self.channel_layer.group_add(group_of(self.run_id), self.channel_name)

    async def disconnect(self, code: int) -> None:
        await self._stop()
        if self.channel_layer is not None and self.run_id is not None:
            await self.channel_layer.group_discard(group_of(self.run_id), self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **_: Any) -> None:
        after = _after(text_data)
        if after is None:
            await self._refuse('Send {"after": n}, n a whole number from 0.')
        elif self.run_id is not None:
            await self._stop()
            self.follower = asyncio.create_task(self._follow(self.run_id, after))

    async def run_doorbell(self, _: Any) -> None:
        """The channel layer says that the log has grown."""
        self.bell.set()

    async def _refuse(self, why: str) -> None:
        await self.send_json({"error": why})
        await self.close(code=BAD_MESSAGE)

    async def _stop(self) -> None:
        if self.follower is not None:
            self.follower.cancel()
            with suppress(asyncio.CancelledError):
                await self.follower
            self.follower = None

    async def _follow(self, run_id: int, seq: int) -> None:
        try:
            await self._send_from(run_id, seq)
        except Exception:
            log.exception("watching run %s failed", run_id)
            await self.close(code=TRY_AGAIN)

    async def _send_from(self, run_id: int, seq: int) -> None:
        """Send what comes after `seq` until the socket closes or the run is deleted."""
        log_size, log_at, greeted = -1, 0.0, False
        while (state := await self._look(run_id)) is not None:
            if state.seq > seq or not greeted:
                events = await database_sync_to_async(events_after)(run_id, seq)
                seq = events[-1]["seq"] if events else seq
                await self.send_json({"events": events, "seq": seq, "now": timezone.now().isoformat()})
                greeted = True
                if len(events) == BATCH:
                    continue
            due = log_at + LOG_EVERY_S - time.monotonic()
            if state.log_size != log_size and due <= 0:
                if state.log_size:
                    await self.send_json({"log": await database_sync_to_async(log_tail)(run_id)})
                log_size, log_at = state.log_size, time.monotonic()
            await self._wait(terminal=state.terminal, log_due=due if state.log_size != log_size else None)
        await self.close(code=UNKNOWN_RUN)

    async def _look(self, run_id: int) -> Pulse | None:
        """A ring after this is for the next look."""
        self.bell.clear()
        return await database_sync_to_async(pulse)(run_id)

    async def _wait(self, *, terminal: bool, log_due: float | None) -> None:
        pause = SAFETY_S if terminal or self.channel_layer is not None else LOOK_S
        if log_due is not None:
            pause = min(pause, max(log_due, 0.01))
        with suppress(TimeoutError):
            await asyncio.wait_for(self.bell.wait(), pause)


def _after(text: str | None) -> int | None:
    """The sequence number of a client's message, or None: not one."""
    try:
        content = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    after = content.get("after") if isinstance(content, dict) else None
    valid = isinstance(after, int) and not isinstance(after, bool) and 0 <= after < 2**63
    return after if valid else None
