"""A small real server that can be killed and started again on the same port; it says what it was asked.

As a program (`python upstream.py PORT FOLDER`) it serves; `Upstream` runs it so. `/hold/…` waits for the file
`release`, `/status/N` answers N, `/large` 20 MB, anything else what it saw. `/status/N/until/…` answers N, and
`/away/until/…` as an API without its database, as often as the file `answers` says. Every request is appended to
`seen.jsonl`.
"""

import json
import socket
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder = Path()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        told = {"path": path, "query": query, "headers": headers, "length": len(body)}
        with (self.folder / "seen.jsonl").open("a") as seen:
            seen.write(json.dumps({**told, "body": body[:200].decode()}) + "\n")
        while "/hold/" in path and not (self.folder / "release").exists():
            time.sleep(0.05)
        if "/until/" in path and self._still():
            self._send(
                503 if "/away/" in path else int(path.split("/status/")[1].split("/")[0]), b"{}", own="/away/" in path
            )
            return
        content = bytes(20_000_000) if path.endswith("/large") else json.dumps(told).encode()
        status = int(path.rpartition("/")[2]) if "/status/" in path and "/until/" not in path else 200
        self._send(status, content, own=False)

    def _still(self) -> bool:
        left = int((self.folder / "answers").read_text())
        (self.folder / "answers").write_text(str(left - 1))
        return left > 0

    def _send(self, status: int, content: bytes, *, own: bool) -> None:
        self.send_response(status)
        if own:
            self.send_header("Retry-After", "2")
        if own or "/until/" not in self.path:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _answer

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128


class Upstream:
    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        from tests.support.platform import free_port  # the program below has no part of the tests but this file

        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen([sys.executable, __file__, str(self.port), str(self.folder)])
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self._process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("the upstream did not start")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def release(self, file: str = "release", *, number: int = 0) -> None:
        (self.folder / file).write_text(str(number))

    def seen(self) -> list[dict[str, Any]]:
        path = self.folder / "seen.jsonl"
        # What follows the last line break is being written.
        return [json.loads(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []

    def open_connections(self) -> int:
        """Those that the server has with somebody."""
        assert self._process is not None
        connections = psutil.Process(self._process.pid).net_connections()
        return sum(each.status == psutil.CONN_ESTABLISHED for each in connections)

    def __enter__(self) -> "Upstream":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._folder.cleanup()


if __name__ == "__main__":
    Handler.folder = Path(sys.argv[2])
    Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
