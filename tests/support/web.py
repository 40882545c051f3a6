"""Scripted search providers: one real HTTP server on this machine that answers in a provider's documented shape.

with ScriptedWeb(pages(brave, hits)) as web:
    ...  # web.url; web.seen has what it was asked
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl

from benchmark.tasks.services_contract import Hit
from tests.support.judge import Reply
from tests.support.serving import LocalServer, Serving

KEY = "search-key-0123456789abcdef"


@dataclass(frozen=True)
class Seen:
    """One request; the key is what was sent in whichever way the provider wants it."""

    method: str
    path: str
    asked: Mapping[str, Any]
    key: str


Behaviour = Callable[[Seen], Reply | None]
Shape = Callable[[Sequence[Hit]], Mapping[str, Any]]


def serpapi(hits: Sequence[Hit]) -> Mapping[str, Any]:
    done: dict[str, Any] = {
        "search_metadata": {"id": "1", "status": "Success"},
        "search_parameters": {"engine": "google"},
    }
    if not hits:
        told = "Google hasn't returned any results for this query."
        return {**done, "search_information": {"organic_results_state": "Fully empty"}, "error": told}
    rows = [
        {"position": n, "title": hit.title, "link": hit.url, "displayed_link": "…", "snippet": hit.snippet}
        for n, hit in enumerate(hits, start=1)
    ]
    return {**done, "search_information": {"total_results": len(hits)}, "organic_results": rows}


def brave(hits: Sequence[Hit]) -> Mapping[str, Any]:
    told: dict[str, Any] = {"type": "search", "query": {"original": "…", "more_results_available": False}}
    if hits:
        rows = [{"title": hit.title, "url": hit.url, "description": hit.snippet, "extra_snippets": []} for hit in hits]
        told["web"] = {"type": "search", "results": rows}
    return told


def tavily(hits: Sequence[Hit]) -> Mapping[str, Any]:
    rows = [{"title": h.title, "url": h.url, "content": h.snippet, "score": 0.9, "raw_content": None} for h in hits]
    return {"query": "…", "answer": None, "images": [], "results": rows, "response_time": 1.2}


def searxng(hits: Sequence[Hit]) -> Mapping[str, Any]:
    rows = [{"title": h.title, "url": h.url, "content": h.snippet, "engine": "brave", "score": 1.0} for h in hits]
    return {"query": "…", "number_of_results": 0, "results": rows, "answers": [], "unresponsive_engines": []}


def duckduckgo(hits: Sequence[Hit]) -> Mapping[str, Any]:
    """The first hit as the abstract, the second as a topic, the rest as topics of a group."""
    topics = [
        {"FirstURL": h.url, "Text": h.snippet, "Result": f'<a href="{h.url}">…</a>', "Icon": {}} for h in hits[1:]
    ]
    first = hits[0] if hits else Hit("", "", "")
    return {
        "Heading": first.title,
        "AbstractText": first.snippet,
        "AbstractURL": first.url,
        "Results": [],
        "RelatedTopics": [*topics[:1], {"Name": "Others", "Topics": topics[1:]}],
        "Type": "A" if hits else "",
    }


def pages(shape: Shape, hits: Sequence[Hit]) -> Behaviour:
    """Always these hits."""
    return lambda _: Reply(shape(hits))


def says(told: Mapping[str, Any]) -> Behaviour:
    """Always this object."""
    return lambda _: Reply(told)


def in_turn(first: Sequence[Behaviour], then: Behaviour) -> Behaviour:
    """The `first` behaviours for one request each, and `then` for the rest."""
    left, lock = list(first), threading.Lock()

    def behave(seen: Seen) -> Reply | None:
        with lock:
            chosen = left.pop(0) if left else then
        return chosen(seen)

    return behave


class ScriptedWeb(Serving):
    """Serves from `__enter__` to `__exit__`."""

    def __init__(self, behave: Behaviour) -> None:
        self.behave = behave
        self.seen: list[Seen] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                seen = self._read()
                web.seen.append(seen)
                reply = web.behave(seen)
                if reply is None:
                    self.close_connection = True
                    return
                body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                for name, value in {"content-length": str(len(body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = _answer

            def _read(self) -> Seen:
                path, _, query = self.path.partition("?")
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                asked: dict[str, Any] = json.loads(body) if body else dict(parse_qsl(query))
                bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
                key = self.headers.get("x-subscription-token") or bearer or asked.pop("api_key", "")
                return Seen(self.command, path, asked, key)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = LocalServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"
