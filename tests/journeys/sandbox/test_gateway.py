"""The way out: a real small server, the gateway in front of it, and the forwarder inside a real sandbox."""

import concurrent.futures
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from benchmark.gateway.process import Gateway
from tests.support.waiting import LONG_S, until

from .conftest import ALL, Bench
from .upstream import Upstream

TOKEN = "tok-abcdef"
PREFIX = f"/grading/{TOKEN}/"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server


@pytest.fixture
def gateway(upstream: Upstream, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "gateway" / "gateway.sock"
    with Gateway(socket=path, upstream=upstream.url, prefixes=[PREFIX]):
        yield path


@pytest.fixture
def client(gateway: Path) -> Iterator[httpx.Client]:
    transport = httpx.HTTPTransport(uds=str(gateway))
    with httpx.Client(transport=transport, base_url="http://gateway", timeout=2 * LONG_S) as made:
        yield made


class TestRoute:
    def test_forwards_what_is_below_the_prefix(self, client: httpx.Client) -> None:
        told = client.get(f"{PREFIX}health?a=1&b=2", headers={"Cookie": "c", "Authorization": "a"}).json()
        assert told["path"] == f"{PREFIX}health"
        assert told["query"] == "a=1&b=2"
        assert {"cookie", "authorization", "idempotency-key"}.isdisjoint(told["headers"])

    @pytest.mark.parametrize(
        "path",
        ["/", "/admin/", "/grading/other/health", f"/grading/{TOKEN}", f"/grading/{TOKEN}x/health"]
        + [PREFIX + tail for tail in ("../other/health", "%2e%2e/other", "..%2fother", "a/./b", "a\\b", "%00")],
    )
    def test_answers_403_to_anything_else(self, gateway: Path, upstream: Upstream, path: str) -> None:
        # By hand, because clients tidy paths up.
        with socket.socket(socket.AF_UNIX) as raw:
            raw.connect(str(gateway))
            raw.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            answer = b"".join(iter(lambda: raw.recv(65536), b""))
        status = int(answer.split()[1])
        assert status in {400, 403}
        assert upstream.seen() == []
        if status == 403:
            assert "detail" in json.loads(answer.partition(b"\r\n\r\n")[2])

    def test_gives_a_submit_a_key_and_keeps_a_given_one(self, client: httpx.Client) -> None:
        keys = [client.post(f"{PREFIX}submit", json={}).json()["headers"]["idempotency-key"] for _ in range(2)]
        assert len(set(keys)) == 2
        given = client.post(f"{PREFIX}submit", json={}, headers={"Idempotency-Key": "mine"}).json()
        assert given["headers"]["idempotency-key"] == "mine"

    def test_a_body_over_the_limit_is_refused_at_once(self, client: httpx.Client, upstream: Upstream) -> None:
        assert client.post(f"{PREFIX}submit", content=b"x" * ((1 << 20) + 1)).status_code == 413
        assert client.post(f"{PREFIX}submit", content=(b"x" * 65536 for _ in range(64))).status_code == 413
        assert upstream.seen() == []
        assert client.post(f"{PREFIX}submit", content=b"x" * (1 << 20)).json()["length"] == 1 << 20

    def test_an_upstream_error_is_passed_on(self, client: httpx.Client) -> None:
        answer = client.get(f"{PREFIX}status/503")
        assert (answer.status_code, answer.json()["path"]) == (503, f"{PREFIX}status/503")

    def test_streams_a_large_answer(self, client: httpx.Client) -> None:
        assert len(client.get(f"{PREFIX}large").content) == 20_000_000


class TestRestart:
    def test_of_the_server_during_a_submit_is_invisible(self, client: httpx.Client, upstream: Upstream) -> None:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(client.post, f"{PREFIX}hold/submit", json={"model_path": "output/a"})
            until(lambda: len(upstream.seen()) == 1)
            upstream.kill()
            time.sleep(1)
            upstream.start()
            until(lambda: len(upstream.seen()) == 2)
            upstream.release()
            answer = waiting.result(LONG_S)
        assert answer.status_code == 200
        first, second = upstream.seen()
        assert first["headers"]["idempotency-key"] == second["headers"]["idempotency-key"]
        assert first["body"] == second["body"] != ""

    def test_by_a_proxy_or_with_a_database_that_is_away(self, client: httpx.Client, upstream: Upstream) -> None:
        for how in ("status/500", "status/502", "status/503", "away"):
            upstream.release("answers", number=2)
            told = client.post(f"{PREFIX}{how}/until/submit", json={}).json()
            keys = [each["headers"]["idempotency-key"] for each in upstream.seen() if how in each["path"]]
            assert keys == [told["headers"]["idempotency-key"]] * 3

    def test_before_a_get_is_invisible(self, client: httpx.Client, upstream: Upstream) -> None:
        assert client.get(f"{PREFIX}health").status_code == 200
        upstream.kill()
        threading.Timer(1, upstream.start).start()
        assert client.get(f"{PREFIX}health").status_code == 200

    def test_a_request_that_cannot_be_repeated_is_not(self, client: httpx.Client, upstream: Upstream) -> None:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(client.post, f"{PREFIX}hold/note", json={})
            until(lambda: len(upstream.seen()) == 1)
            upstream.kill()
            assert waiting.result(LONG_S).status_code == 502
        upstream.start()
        assert len(upstream.seen()) == 1

    def test_a_client_that_leaves_ends_the_request(self, gateway: Path, upstream: Upstream) -> None:
        transport = httpx.HTTPTransport(uds=str(gateway))
        with (
            httpx.Client(transport=transport, timeout=httpx.Timeout(LONG_S, read=1)) as client,
            pytest.raises(httpx.ReadTimeout),
        ):
            client.post(f"http://gateway{PREFIX}hold/submit", json={})
        until(lambda: upstream.open_connections() == 0)


class TestGateway:
    def test_replaces_a_stale_socket_and_removes_its_own(self, upstream: Upstream, tmp_path: Path) -> None:
        path = tmp_path / ("long" * 30) / "gateway.sock"
        for _ in range(2):
            with Gateway(socket=path, upstream=upstream.url, prefixes=[PREFIX]):
                assert path.is_socket()
            assert not path.exists()
        path.write_text("stale")
        with Gateway(socket=path, upstream=upstream.url, prefixes=[PREFIX]):
            assert path.is_socket()

    def test_leaves_the_socket_of_the_gateway_after_it(self, upstream: Upstream, tmp_path: Path) -> None:
        path = tmp_path / "g.sock"
        before, after = (Gateway(socket=path, upstream=upstream.url, prefixes=[PREFIX]) for _ in range(2))
        before.start()
        with after:
            before.stop()
            with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), timeout=LONG_S) as client:
                assert client.get(f"http://g{PREFIX}health").status_code == 200
        assert not path.exists()

    def test_stops_with_requests_open(self, upstream: Upstream, tmp_path: Path) -> None:
        made = Gateway(socket=tmp_path / "g.sock", upstream=upstream.url, prefixes=[PREFIX])
        made.start()
        transport = httpx.HTTPTransport(uds=str(tmp_path / "g.sock"))
        with concurrent.futures.ThreadPoolExecutor(1) as pool, httpx.Client(transport=transport) as client:
            waiting = pool.submit(client.post, f"http://g{PREFIX}hold/submit", json={}, timeout=300)
            until(lambda: len(upstream.seen()) == 1)
            began = time.monotonic()
            made.stop()
            assert time.monotonic() - began < LONG_S
            with pytest.raises(httpx.RemoteProtocolError):
                waiting.result(LONG_S)

    def test_runs_on_its_own_with_its_token_out_of_sight(self, upstream: Upstream, tmp_path: Path) -> None:
        path = tmp_path / "g.sock"
        command = [sys.executable, "-m", "benchmark.gateway", "--socket", str(path), "--upstream", upstream.url]
        environment = {**os.environ, "AGENT2_GATEWAY_PREFIXES": PREFIX}
        with subprocess.Popen(command, env=environment, cwd=Path(__file__).parents[3]) as process:
            try:
                # Retried, for the socket is there a moment before it is listened at.
                until(path.is_socket)
                with httpx.Client(transport=httpx.HTTPTransport(uds=str(path), retries=10), timeout=LONG_S) as client:
                    assert client.get(f"http://g{PREFIX}health").status_code == 200
                assert TOKEN.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
            finally:
                process.terminate()
        assert not path.exists()


CALL = """
import json, os, sys, urllib.request, concurrent.futures
url = os.environ["GRADING_SERVER_URL"]
def call(path, body=None):
    request = urllib.request.Request(url + path, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=200) as answer:
        return json.load(answer)
"""


@pytest.mark.parametrize("sandbox", ALL, indirect=True)
class TestFromInside:
    def run(self, bench: Bench, gateway: Path, script: str) -> tuple[int, str]:
        ended, output = bench.run(
            'exec "$PYTHON" -c "$SCRIPT"',
            socket=gateway,
            env={
                "GRADING_SERVER_URL": "{gateway}" + PREFIX.rstrip("/"),
                "PYTHON": bench.sandbox.python,
                "SCRIPT": CALL + script,
            },
        )
        return ended.code, output

    def test_submits(self, bench: Bench, gateway: Path) -> None:
        code, output = self.run(bench, gateway, 'print(call("/submit", b"{}")["path"]); sys.exit(4)')
        assert (code, output) == (4, f"{PREFIX}submit\n")

    def test_is_refused_elsewhere(self, bench: Bench, gateway: Path) -> None:
        script = 'url = url.split("/grading")[0]\ntry: call("/admin/")\nexcept Exception as e: print(e.code)'
        assert self.run(bench, gateway, script) == (0, "403\n")

    def test_twenty_long_requests_at_once(self, bench: Bench, gateway: Path, upstream: Upstream) -> None:
        def release() -> None:
            until(lambda: len(upstream.seen()) == 20, seconds=2 * LONG_S)
            time.sleep(1)
            upstream.release()

        threading.Thread(target=release, daemon=True).start()
        script = """
with concurrent.futures.ThreadPoolExecutor(20) as pool:
    print(len(list(pool.map(lambda n: call("/hold/submit", b"{}"), range(20)))))
"""
        assert self.run(bench, gateway, script) == (0, "20\n")

    def test_a_submission_outlives_its_gateway(self, bench: Bench, upstream: Upstream, tmp_path: Path) -> None:
        path = tmp_path / "gateway" / "gateway.sock"
        first, second = (Gateway(socket=path, upstream=upstream.url, prefixes=[PREFIX]) for _ in range(2))

        def replace() -> None:
            until(lambda: len(upstream.seen()) == 1, seconds=2 * LONG_S)
            first.stop()
            second.start()
            until(lambda: len(upstream.seen()) == 2, seconds=2 * LONG_S)
            upstream.release()

        first.start()
        replacing = threading.Thread(target=replace)
        replacing.start()
        try:
            script = 'print(call("/hold/submit", b"{}")["length"], call("/health")["path"])'
            assert self.run(bench, path, script) == (0, f"2 {PREFIX}health\n")
        finally:
            replacing.join()
            second.stop()
        keys = {each["headers"]["idempotency-key"] for each in upstream.seen()[:2]}
        assert len(keys) == 1
        assert len(upstream.seen()) == 3

    def test_a_refused_large_body_still_gets_its_answer(self, bench: Bench, gateway: Path) -> None:
        script = """
import http.client, urllib.parse
place = urllib.parse.urlsplit(url)
connection = http.client.HTTPConnection(place.hostname, place.port)
connection.putrequest("POST", place.path + "/submit")
connection.putheader("Content-Length", str(50 << 20))
connection.endheaders()
try:
    for _ in range(50): connection.send(bytes(1 << 20))
except OSError: pass
print(connection.getresponse().status)
"""
        assert self.run(bench, gateway, script) == (0, "413\n")
