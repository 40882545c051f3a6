"""The websocket of a run: nothing is lost, nothing comes twice, bad messages and unknown runs end it."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.layers import channel_layers

from benchmark.models import AgentLog, EventKind, Run, RunState
from benchmark.services.events import event_record
from frontend.live import BATCH
from tests.db.frontend.live_socket import Socket
from tests.support.rows import run_row
from tests.support.waiting import LONG_S

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["looking", "doorbell"])
def channel_layer(request: pytest.FixtureRequest, settings: Any) -> Iterator[str]:
    """Without a channel layer the consumer looks for itself; with one it is rung."""
    if request.param == "doorbell":
        settings.CHANNEL_LAYERS = {"default": {"BACKEND": "tests.support.layers.ThreadsLayer"}}
    channel_layers.backends.clear()
    yield request.param
    channel_layers.backends.clear()


@database_sync_to_async
def run_new(**values: Any) -> Run:
    return run_row(**values)


@database_sync_to_async
def record(run: Run, number: int = 1) -> None:
    for index in range(number):
        event_record(run.pk, EventKind.RUN_STEP, text=f"step {index}")


@asynccontextmanager
async def watching(slug: str) -> AsyncIterator[Socket]:
    socket = Socket(f"/ws/runs/{slug}/")
    assert await socket.connect()
    try:
        yield socket
    finally:
        await socket.disconnect()


async def test_everything_after_is_sent_and_then_what_follows(
    channel_layer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that nobody is waiting for the safety net's look.
    monkeypatch.setattr("frontend.consumers.SAFETY_S", 10 * LONG_S)
    run = await run_new()
    await record(run, 3)
    async with watching(run.slug) as socket:
        await socket.after(1)
        first = await socket.batch()
        assert [event["seq"] for event in first["events"]] == [2, 3]
        assert first["seq"] == 3
        assert first["events"][0]["kind"] == "run.step"
        assert first["events"][0]["data"] == {"text": "step 1"}
        assert first["now"]
        await record(run)
        assert [event["seq"] for event in (await socket.batch())["events"]] == [4]


async def test_a_watcher_with_nothing_to_catch_up_is_greeted(channel_layer: str) -> None:
    run = await run_new()
    async with watching(run.slug) as socket:
        await socket.after(0)
        greeting = await socket.batch()
        assert (greeting["events"], greeting["seq"]) == ([], 0)


async def test_after_a_break_nothing_is_missing_and_nothing_comes_twice(channel_layer: str) -> None:
    run = await run_new()
    seen: list[int] = []
    for _ in range(3):
        await record(run, 4)
        async with watching(run.slug) as socket:
            await socket.after(seen[-1] if seen else 0)
            seen += [event["seq"] for event in (await socket.batch())["events"]]
            await record(run, 2)
            while seen[-1] % 6:
                seen += [event["seq"] for event in (await socket.batch())["events"]]
    assert seen == list(range(1, 19))


async def test_a_lost_doorbell_only_delays(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontend.consumers.SAFETY_S", 1.0)
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "tests.support.layers.ThreadsLayer"}}
    channel_layers.backends.clear()
    run = await run_new()
    async with watching(run.slug) as socket:
        await socket.after(0)
        await socket.batch()
        await asyncio.sleep(0.1)
        settings.CHANNEL_LAYERS = {}
        channel_layers.backends.clear()
        await record(run)
        assert [event["seq"] for event in (await socket.batch())["events"]] == [1]
    channel_layers.backends.clear()


async def test_a_long_log_comes_in_batches(channel_layer: str) -> None:
    run = await run_new()
    await record(run, BATCH + 20)
    async with watching(run.slug) as socket:
        await socket.after(0)
        sizes = [len((await socket.batch())["events"]) for _ in range(2)]
    assert sizes == [BATCH, 20]


async def test_an_ended_run_sends_all_and_then_stays_idle(channel_layer: str) -> None:
    run = await run_new(state=RunState.FINISHED)
    await record(run, 2)
    async with watching(run.slug) as socket:
        await socket.after(0)
        assert len((await socket.batch())["events"]) == 2
        assert await socket.silent(1.0)


async def test_the_agents_log_comes_in_coloured_pieces_and_not_too_often(channel_layer: str) -> None:
    run = await run_new()

    @database_sync_to_async
    def printed(text: str) -> None:
        AgentLog.objects.update_or_create(run=run, defaults={"tail": text, "size": len(text)})
        event_record(run.pk, EventKind.RUN_STEP, text="printed")

    await printed("\x1b[32mok\x1b[0m <script>")
    async with watching(run.slug) as socket:
        await socket.after(0)
        logs, began = [], time.monotonic()
        for number in range(8):
            await printed("x" * (number + 30))
            with_log = await socket.message()
            logs += [with_log["log"]] if "log" in with_log else []
        while not logs or logs[-1]["size"] != 37:
            message = await socket.message()
            logs += [message["log"]] if "log" in message else []
        spent = time.monotonic() - began
    assert logs[-1] == {"size": 37, "tail": [["", "x" * 37]]}
    assert len(logs) <= spent / 0.5 + 2


@pytest.mark.parametrize(
    "message",
    ['{"after": -1}', '{"after": "1"}', '{"after": 1.0}', '{"after": true}', '{"after": null}', "{}", "[]", "5", "",
     "{", '{"after": 9223372036854775808}', "[" * 100_000],
)  # fmt: skip
async def test_a_bad_message_is_answered_and_ends_the_socket(message: str) -> None:
    run = await run_new()
    async with watching(run.slug) as socket:
        await socket.send(message)
        assert "whole number" in (await socket.message())["error"]
        assert await socket.closed() == 4400


async def test_bytes_are_a_bad_message() -> None:
    run = await run_new()
    async with watching(run.slug) as socket:
        await socket.send(data=json.dumps({"after": 0}).encode())
        assert "error" in await socket.message()


async def test_an_unknown_run_ends_the_socket() -> None:
    async with watching("20260101-0000-abcdef") as socket:
        assert await socket.closed() == 4404


async def test_a_run_deleted_meanwhile_ends_the_socket() -> None:
    run = await run_new()
    async with watching(run.slug) as socket:
        await socket.after(0)
        await socket.batch()
        await database_sync_to_async(run.delete)()
        assert await socket.closed() == 4404


@pytest.mark.parametrize("origin", [b"http://elsewhere.example", b"null"])
async def test_another_sites_page_is_refused(origin: bytes) -> None:
    run = await run_new()
    assert not await Socket(f"/ws/runs/{run.slug}/", origin).connect()
