"""A scripted judge: a real HTTP server on this machine that speaks Chat Completions and does as it is told.

`path` makes it another endpoint of the same API.

    with ScriptedJudge(prefers(longer)) as judge:
        ...  # judge.url, judge.model; judge.requests has what it was asked

A behaviour is called with each request's body and gives a `Reply`, or None to close the connection without one.
"""

import json
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.serving import LocalServer, Serving

KEY = "sk-scripted-judge-0123456789abcdef"
MODEL = "scripted-judge-1"


@dataclass(frozen=True)
class Reply:
    """One HTTP answer, after `delay_s`."""

    body: bytes | Mapping[str, Any]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


Behaviour = Callable[[Mapping[str, Any]], Reply | None]


def completion(content: str, *, probabilities: Mapping[str, float] | None = None, tokens: int = 100) -> Reply:
    """A Chat Completions response; `probabilities` are those of its first token."""
    logprobs = None
    if probabilities is not None:
        top = [{"token": token, "logprob": math.log(p)} for token, p in probabilities.items()]
        logprobs = {"content": [{"token": content, "logprob": top[0]["logprob"], "top_logprobs": top}]}
    return Reply(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": MODEL,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content},
                    "logprobs": logprobs,
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1},
        }
    )


def says(content: str) -> Behaviour:
    """Always the same words, without log-probabilities."""
    return lambda _: completion(content)


def refuses(status: int, message: str = "no", **headers: str) -> Behaviour:
    """Always an error. Header names are written with underscores."""
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: Reply({"error": {"message": message}}, status, told)


def hangs_up() -> Behaviour:
    """Takes the request and closes the connection."""
    return lambda _: None


def dawdles(seconds: float, then: Behaviour) -> Behaviour:
    """Answers late."""

    def behave(request: Mapping[str, Any]) -> Reply | None:
        time.sleep(seconds)
        return then(request)

    return behave


def in_turn(first: Sequence[Behaviour], then: Behaviour) -> Behaviour:
    """The `first` behaviours for one request each, and `then` for the rest."""
    left, lock = list(first), threading.Lock()

    def behave(request: Mapping[str, Any]) -> Reply | None:
        with lock:
            chosen = left.pop(0) if left else then
        return chosen(request)

    return behave


def prompt_text(request: Mapping[str, Any]) -> str:
    """Everything that the judge is told."""
    return "\n".join(str(message["content"]) for message in request["messages"])


class ScriptedJudge(Serving):
    """Serves from `__enter__` to `__exit__`. Requests without the right key are refused, as by a real provider."""

    model = MODEL
    key = KEY

    def __init__(self, behave: Behaviour, path: str = "/v1/chat/completions") -> None:
        self.behave = behave
        self.path = path
        self.requests: list[Mapping[str, Any]] = []
        self.most_at_once = 0
        self._now, self._lock = 0, threading.Lock()
        judge = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                authorised = self.headers.get("authorization") == f"Bearer {KEY}"
                reply = judge._answer(self.path, request, authorised)
                if reply is None:
                    self.close_connection = True
                    return
                body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                for name, value in {"content-length": str(len(body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = LocalServer(("127.0.0.1", 0), Handler)

    def _answer(self, path: str, request: Mapping[str, Any], authorised: bool) -> Reply | None:
        if not authorised:
            return Reply({"error": {"message": "Incorrect API key provided"}}, 401)
        if path != self.path:
            return Reply({"error": {"message": "no such path"}}, 404)
        with self._lock:
            self.requests.append(request)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            return self.behave(request)
        finally:
            with self._lock:
                self._now -= 1

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"
