"""A host of its own sends its records to the web server, from a thread for each run."""

from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from tests.support.descriptors import growth, held_open
from tests.support.serving import LocalServer, Serving
from traces.services.carrying import carry


class Stored(BaseHTTPRequestHandler):
    """Takes everything, and keeps the connection."""

    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class WebServer(Serving):
    def __init__(self) -> None:
        self._server = LocalServer(("127.0.0.1", 0), Stored)
        self.url = f"http://127.0.0.1:{self._server.server_port}"


def test_threads_that_have_ended_hold_no_connection(settings: Any, tmp_path: Path) -> None:
    def run() -> None:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(carry, tmp_path / "events", 0, b"event").result()

    with WebServer() as server:
        settings.WORKER_URL, settings.TRACES_DIR, settings.HOST_TOKEN = server.url, tmp_path, "token"
        assert growth(run, held_open) <= 2
