"""The example agent's client, against a real HTTP server that says what the test wants."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from benchmark.agents.example import grader
from benchmark.agents.example.grader import Grader


class Scripted(HTTPServer):
    """Gives the next of `answers` to each request and keeps what was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[tuple[int, Any]] = []
        self.asked: list[tuple[str, str, Any, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/grading/secret"


class _Handler(BaseHTTPRequestHandler):
    server: Scripted

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        asked = json.loads(body) if body else None
        self.server.asked.append((self.command, self.path, asked, self.headers["Idempotency-Key"]))
        status, answer = self.server.answers.pop(0)
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET

    def log_message(self, *_: Any) -> None:
        """Silent."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    monkeypatch.setattr(grader, "PAUSE_S", 0.0)
    monkeypatch.delenv("BUDGET_S", raising=False)
    scripted = Scripted()
    thread = threading.Thread(target=scripted.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield scripted
    scripted.shutdown()
    thread.join()
    scripted.server_close()


def test_a_score(server: Scripted) -> None:
    server.answers = [(200, {"submission_id": 1, "score": 12.5, "improvement": 2.5})]
    assert Grader(server.url).submit("output/v1")["score"] == 12.5
    method, path, body, key = server.asked[0]
    assert (method, path, body) == ("POST", "/grading/secret/submit", {"model_path": "output/v1"})
    assert key


def test_a_rejection_comes_back_with_its_reason(server: Scripted) -> None:
    server.answers = [(422, {"submission_id": 1, "score": None, "error": "No weights.", "fix": "Save them."})]
    answer = Grader(server.url).submit("output/v1")
    assert (answer["score"], answer["error"], answer["fix"]) == (None, "No weights.", "Save them.")


def test_a_fault_of_the_grader_is_final_for_that_submission(server: Scripted) -> None:
    server.answers = [(503, {"submission_id": 1, "score": None, "error": "No GPU."})]
    assert Grader(server.url).submit("output/v1")["error"] == "No GPU."


def test_a_restart_is_waited_for_with_the_same_key(server: Scripted) -> None:
    server.answers = [(502, b"<html>"), (200, {"submission_id": 1, "score": 1.0})]
    assert Grader(server.url).submit("output/v1")["score"] == 1.0
    assert len({key for *_, key in server.asked}) == 1


def test_a_closed_run_says_so(server: Scripted) -> None:
    server.answers = [(409, {"error": "The budget is spent."})]
    assert Grader(server.url).submit("output/v1") == {"score": None, "error": "The budget is spent."}


def test_nonsense_is_no_score(server: Scripted) -> None:
    server.answers = [(200, b"[1]")]
    assert Grader(server.url).submit("output/v1") == {"score": None, "error": "The grading server answered 200."}


def test_the_servers_clock_counts(server: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUDGET_S", "1000")
    server.answers = [(200, {"remaining": 50.0}), (500, b"")]
    client = Grader(server.url)
    # What a busy machine takes counts as well.
    assert 0 < client.remaining() <= 50
    assert 0 < client.remaining() <= 50


def test_without_a_server_the_budget_is_counted_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUDGET_S", "1000")
    closed = Scripted()
    closed.server_close()
    client = Grader(closed.url)
    assert 900 < client.remaining() <= 1000
    assert "cannot be reached" in client._ask("POST", "/submit", {}, timeout_s=1, tries=1)[1]["error"]
