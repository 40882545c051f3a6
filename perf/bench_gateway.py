"""What the gateway adds to the first byte of a streamed answer, and to its whole, over asking the provider directly.

The provider, the gateway and the sandbox's forwarder are processes of their own; requests take turns between the ways,
so that a busy moment meets all of them. Bodies are conversations of the given sizes.
"""

import argparse
import json
import multiprocessing
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmark.gateway.ledger import Ledger
from benchmark.gateway.prices import prices_read
from benchmark.gateway.process import Gateway
from benchmark.gateway.provider_route import ProviderRoute
from benchmark.gateway.providers import Provider
from tests.support.scripted_provider import Script, ScriptedProvider

MODEL = "claude-opus-4-6"
SIZES = (2_000, 200_000, 1_000_000, 4_000_000)
FORWARDER = Path(__file__).resolve().parents[1] / "benchmark" / "sandbox" / "forwarder.py"


def provide(pipe: Any) -> None:
    with ScriptedProvider(Script([], final="word " * 100)) as provider:
        pipe.send(provider.url)
        pipe.recv()


def lead(pipe: Any, url: str, path: Path, log_path: Path) -> None:
    ledger = Ledger(prices_read(), tokens_most=10**12, usd_most=1e9, log_path=log_path)
    route = ProviderRoute(Provider("anthropic", "anthropic", url, "key"), ledger, models=[MODEL])
    with Gateway(socket=path, routes=[route]):
        pipe.send("ready")
        pipe.recv()


@contextmanager
def process(target: Any, *args: Any) -> Iterator[Any]:
    """A process of its own, and the first thing that it says."""
    here, there = multiprocessing.Pipe()
    started = multiprocessing.get_context("spawn").Process(target=target, args=(there, *args))
    started.start()
    try:
        yield here.recv()
    finally:
        here.send("end")
        started.join(10)


@contextmanager
def forwarded(path: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    command = [sys.executable, "-I", str(FORWARDER), "--socket", str(path), "--port", str(port), "--", "sleep", "3600"]
    started = subprocess.Popen(command)
    try:
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        started.terminate()
        started.wait(5)


def asked(size: int) -> bytes:
    """A conversation of about `size` bytes, without spaces between its parts, as the vendors' clients write it."""
    text = 'A line of a "log", with quotes and\nbreaks. ' * (size // 44 + 1)
    messages = [{"role": "user", "content": text[at : at + 8000]} for at in range(0, size, 8000)]
    body = {"model": MODEL, "max_tokens": 9, "stream": True, "messages": messages}
    return json.dumps(body, separators=(",", ":")).encode()


def ask(client: httpx.Client, base: str, body: bytes) -> tuple[float, float]:
    """Seconds to the first byte of the body and to its end."""
    began = time.perf_counter()
    with client.stream("POST", f"{base}/v1/messages", content=body) as answer:
        pieces = answer.iter_raw()
        next(pieces)
        first = time.perf_counter() - began
        for _ in pieces:
            pass
    assert answer.status_code == 200
    return first, time.perf_counter() - began


def measure(ways: dict[str, tuple[httpx.Client, str]], body: bytes, count: int) -> dict[str, list[tuple[float, float]]]:
    """Rounds over all ways, the first of which is not counted."""
    told: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for turn in range(count + 3):
        for name, (client, base) in ways.items():
            once = ask(client, base, body)
            if turn >= 3:
                told[name].append(once)
    return told


def show(title: str, told: dict[str, list[tuple[float, float]]]) -> None:
    print(title)
    direct = told["direct"]
    for name, times in told.items():
        first, whole = ([each[at] * 1000 for each in times] for at in (0, 1))
        base = [each[0] * 1000 for each in direct]
        added, least = statistics.median(first) - statistics.median(base), share(first, 0.1) - share(base, 0.1)
        print(
            f"  {name:22} first byte {statistics.median(first):7.2f} ms (p95 {share(first, 0.95):7.2f}), "
            f"whole {statistics.median(whole):7.2f} ms, adds {added:+6.2f} ms, in the best tenth {least:+6.2f} ms"
        )


def share(times: list[float], part: float) -> float:
    return sorted(times)[int(len(times) * part)]


def at_once(ways: dict[str, tuple[httpx.Client, str]], body: bytes, count: int, threads: int) -> None:
    """The same with several streams at a time."""
    for name, (client, base) in ways.items():
        found: list[float] = []

        def work(client: httpx.Client = client, base: str = base, found: list[float] = found) -> None:
            found.extend(ask(client, base, body)[0] * 1000 for _ in range(count // threads))

        started = [threading.Thread(target=work) for _ in range(threads)]
        for each in started:
            each.start()
        for each in started:
            each.join()
        print(f"  {name:22} {threads} at once: first byte {statistics.median(found):7.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        path = folder / "g.sock"
        url = stack.enter_context(process(provide))
        stack.enter_context(process(lead, url, path, folder / "provider.jsonl"))
        inside = stack.enter_context(forwarded(path))
        direct = stack.enter_context(httpx.Client(timeout=60))
        near = stack.enter_context(httpx.Client(timeout=60, transport=httpx.HTTPTransport(uds=str(path))))
        ways = {
            "direct": (direct, url),
            "gateway": (near, "http://gateway/provider/anthropic"),
            "forwarder and gateway": (direct, f"{inside}/provider/anthropic"),
        }
        for size in SIZES:
            show(f"{size:,} bytes asked", measure(ways, asked(size), given.count if size < 10**6 else given.count // 4))
        at_once(ways, asked(SIZES[1]), given.count, 8)


if __name__ == "__main__":
    main()
