"""Bodies that nobody should store, in front of a handler that would."""

import asyncio
from typing import Any

import pytest

from config.bodies import PAGES_MOST, RECORDS_MOST, bounded


def asked(path: str, pieces: list[bytes], *headers: tuple[bytes, bytes]) -> tuple[int, int]:
    """The answer's status, 0 without one, and how many bytes the handler was given."""
    waiting = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    waiting.append({"type": "http.request", "body": b"", "more_body": False})
    statuses, taken = [0], [0]

    async def receive() -> Any:
        return waiting.pop(0)

    async def send(message: Any) -> None:
        statuses.append(message.get("status", statuses[-1]))

    async def handler(_scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            taken[0] += len(message["body"])
            more = message["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})

    asyncio.run(bounded(handler)({"path": path, "headers": list(headers)}, receive, send))
    return statuses[-1], taken[0]


def test_a_body_that_fits_arrives() -> None:
    piece = b"x" * (PAGES_MOST // 2)
    assert asked("/login/", [piece, piece]) == (200, PAGES_MOST)
    assert asked("/", [], (b"content-length", b"0")) == (200, 0)


@pytest.mark.parametrize("declared", [str(PAGES_MOST + 1).encode(), b"9" * 5000, b"-1", b"x"])
def test_a_body_declared_too_long_is_refused_unread(declared: bytes) -> None:
    assert asked("/login/", [b"x"], (b"content-length", declared)) == (413, 0)


def test_a_body_that_becomes_too_long_is_cut_off() -> None:
    assert asked("/login/", [b"x" * (1 << 20)] * 9) == (0, PAGES_MOST)


def test_records_of_hosts_have_room() -> None:
    piece = b"x" * (64 << 20)
    declared = (b"content-length", str(len(piece)).encode())
    assert asked("/worker/records/runs/a/log", [piece], declared) == (200, len(piece))
    assert asked("/worker/records/runs/a/log", [piece, piece])[0] == 0
    assert len(piece) < RECORDS_MOST
