"""What an agent may do to its own gateway: requests that can be read in two ways, and ones without an end."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from benchmark.gateway.process import Gateway
from benchmark.sandbox.inside import FORWARDER_SOURCE
from tests.support.waiting import until

from .upstream import Upstream

PREFIX = "/grading/mine/"
HIDDEN = "GET /grading/theirs/health HTTP/1.1\r\nHost: x\r\nX-Smuggled: yes\r\n\r\n"
CHUNKED = f"Content-Length: {len(HIDDEN) + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}"
HEAD = f"POST {PREFIX}submit HTTP/1.1\r\nHost: x\r\n"
REQUESTS = {
    "both lengths": (HEAD + CHUNKED, {400}),
    "both lengths, the other first": (HEAD + "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n", {400}),
    "two lengths": (f"{HEAD}Content-Length: 0\r\nContent-Length: {len(HIDDEN)}\r\n\r\n{HIDDEN}", {400}),
    "a length with a sign": (f"{HEAD}Content-Length: +{len(HIDDEN)}\r\n\r\n{HIDDEN}", {400}),
    "an unknown coding": (f"{HEAD}Transfer-Encoding: xchunked\r\n\r\n{HIDDEN}", {400, 501}),
    "a coding in another letter": (f"{HEAD}Transfer-Encoding:\x0bchunked\r\n\r\n{HIDDEN}", {400, 501}),
    "a space before the colon": (f"{HEAD}Content-Length : 0\r\n\r\n{HIDDEN}", {400}),
    "a folded header": (f"{HEAD}User-Agent: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n", {200, 400}),
    "line feeds alone": (f"GET {PREFIX}health HTTP/1.1\nHost: x\nConnection: close\n\n", {200, 400}),
    "a carriage return alone": (f"{HEAD}User-Agent: a\rX-Smuggled: yes\r\nContent-Length: 0\r\n\r\n", {400}),
    "a NUL": (f"{HEAD}User-Agent: a\0b\r\nContent-Length: 0\r\n\r\n", {400}),
    "a line end in the query": (f"GET {PREFIX}health?a=%0d%0aX-Smuggled:%20yes HTTP/1.1\r\nHost: x\r\n\r\n", {200}),
    "a chunk's size that overflows": (f"{HEAD}Transfer-Encoding: chunked\r\n\r\n{'f' * 20}0\r\n{HIDDEN}", {400}),
    "the whole address": (f"GET http://x{PREFIX}health HTTP/1.1\r\nHost: x\r\n\r\n", {403}),
    "another host's address": ("GET http://169.254.169.254/grading/mine/ HTTP/1.1\r\nHost: x\r\n\r\n", {403}),
    "CONNECT": ("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n", {403}),
    "a server of no name": ("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", {403}),
    "an upgrade": (
        f"GET {PREFIX}health HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        {200},
    ),
    "HTTP/2": ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 403}),
    "a head without an end": (HEAD + "X-A: " + "a" * 300_000, {400, 431}),
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server


@pytest.fixture
def gateway(upstream: Upstream, tmp_path: Path) -> Iterator[Gateway]:
    path = tmp_path / "gateway" / "gateway.sock"
    with Gateway(socket=path, upstream=upstream.url, prefixes=[PREFIX]) as made:
        yield made


@contextlib.contextmanager
def connection(gateway: Gateway, text: str = "") -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as made:
        made.settimeout(60)
        made.connect(str(gateway.path))
        with contextlib.suppress(OSError):
            made.sendall(text.encode("latin-1"))
        yield made


def answer(connected: socket.socket) -> bytes:
    """All that comes until the other end closes."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while data := connected.recv(65536):
            found += data
    return found


def is_alive(gateway: Gateway) -> bool:
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(gateway.path)), timeout=60) as client:
        return client.get(f"http://g{PREFIX}health").status_code == 200


def test_no_request_hides_another(gateway: Gateway, upstream: Upstream) -> None:
    before = len(upstream.seen())
    for name, (text, statuses) in REQUESTS.items():
        with connection(gateway, text) as asked:
            first = asked.recv(65536)
        assert int(first.split()[1]) in statuses, (name, first)
    assert is_alive(gateway)
    for seen in upstream.seen()[before:]:
        assert seen["path"].startswith(PREFIX), seen
        assert {"x-smuggled", "transfer-encoding", "upgrade"}.isdisjoint(seen["headers"]), seen
        assert HIDDEN[:20] not in seen["body"]
    assert gateway.abuse["malformed_request"] >= 8


def test_each_of_several_requests_in_one_packet_is_looked_at(gateway: Gateway) -> None:
    own = f"GET {PREFIX}health HTTP/1.1\r\nHost: x\r\n\r\n"
    with connection(gateway, own + own + HIDDEN + own) as asked:
        told = answer(asked)
    assert [int(part.split()[0]) for part in told.split(b"HTTP/1.1 ")[1:]] == [200, 200, 403]
    assert gateway.refused == {"/grading/theirs/health": 1}


def test_what_never_comes_to_its_end_is_sent_away_and_stops_nobody(gateway: Gateway) -> None:
    gateway.app.head_s = gateway.app.body_s = 1.0
    unended = ["", "GET ", HEAD, f"{HEAD}Content-Length: 100\r\n\r\n", f"{HEAD}Transfer-Encoding: chunked\r\n\r\n"]
    with contextlib.ExitStack() as held:
        asked = [held.enter_context(connection(gateway, text)) for text in unended * 4]
        assert is_alive(gateway)

        def trickle() -> bool:
            """Whether all were answered; a byte more of what has begun."""
            for number, each in enumerate(asked):
                if number % len(unended) in (1, 2):
                    with contextlib.suppress(OSError):
                        each.sendall(b"a")
            return gateway.abuse.get("slow_request", 0) == len(asked)

        until(trickle)
        for each in asked:
            assert answer(each).startswith(b"HTTP/1.1 408 ")
    assert is_alive(gateway)


def test_whoever_waits_for_an_answer_may_wait(gateway: Gateway, upstream: Upstream) -> None:
    gateway.app.head_s = gateway.app.body_s = 0.5
    before = len(upstream.seen())
    with connection(gateway, f"GET {PREFIX}hold/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") as asked:
        until(lambda: len(upstream.seen()) > before)
        asked.settimeout(1.5)
        with pytest.raises(TimeoutError):
            asked.recv(1)
        asked.settimeout(60)
        upstream.release()
        assert answer(asked).startswith(b"HTTP/1.1 200 ")
    assert "slow_request" not in gateway.abuse


def test_a_run_has_so_many_connections_and_gets_them_back(gateway: Gateway) -> None:
    gateway.app.connections_most = 8
    with contextlib.ExitStack() as held:
        for _ in range(8):
            held.enter_context(connection(gateway, HEAD))
        with connection(gateway) as over:
            assert answer(over).startswith(b"HTTP/1.1 503 ")
    until(lambda: is_alive(gateway))
    assert gateway.abuse["too_many_connections"] >= 1


def test_who_does_not_read_its_answer_stops_nobody(gateway: Gateway) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(5):
            held.enter_context(connection(gateway, f"GET {PREFIX}large HTTP/1.1\r\nHost: x\r\n\r\n"))
        assert is_alive(gateway)


FLOOD = """
import os, resource, socket, time, urllib.request
place = ("127.0.0.1", int(os.environ["GATEWAY"].rpartition(":")[2]))
held = []
for _ in range(100):
    held.append(socket.create_connection(place))
time.sleep(1)
for each in held:
    each.close()
print(urllib.request.urlopen(os.environ["GATEWAY"] + "/grading/mine/health", timeout=60).status)
"""


def test_a_forwarder_without_descriptors_left_goes_on_once_it_has_some(gateway: Gateway) -> None:
    command = [sys.executable, "-I", str(FORWARDER_SOURCE), "--socket", str(gateway.path), "--port", "0"]

    done = subprocess.run(
        ["prlimit", "--nofile=128", *command, "--", sys.executable, "-c", FLOOD],
        env={**os.environ, "GATEWAY": "{gateway}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout == "200\n", done.stderr
