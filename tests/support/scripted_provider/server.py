"""The provider's HTTP server. It writes down who asked with which credentials, and never what."""

import json
import re
import socket
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

from tests.support.scripted_provider.script import Fault, Script, answer_to, turn_of
from tests.support.scripted_provider.speaking import Api, Chat, Gemini, Messages, Responses
from tests.support.serving import LocalServer, Serving

APIS: list[tuple[str, type[Api]]] = [
    (r"/v1/messages$", Messages),
    (r"/responses$", Responses),
    (r"/chat/completions$", Chat),
    (r":(generate|streamGenerate)Content$", Gemini),
]
CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key")


class ScriptedProvider(Serving):
    """Plays `script` on 127.0.0.1; `pace_s` is the pause between the events of a stream."""

    def __init__(self, script: Script, *, pace_s: float = 0.0) -> None:
        self.pace_s = pace_s
        self.broken_off = 0
        """Requests that ended before their body did."""
        self._lock = threading.Lock()
        self.play(script)
        outer = self

        class Handler(_Handler):
            provider = outer

        self._server = LocalServer(("127.0.0.1", 0), Handler)

    def play(self, script: Script) -> None:
        """Begin with another script: nobody has asked, and none of its faults has struck."""
        with self._lock:
            self.script = script
            self.seen: list[dict[str, Any]] = []
            self._struck: Counter[int] = Counter()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def generated(self) -> list[dict[str, Any]]:
        """Requests that were answered in full with a turn or a side answer."""
        return [each for each in self.seen if each.get("answered")]

    def struck(self) -> int:
        """Requests that met a fault."""
        return sum("fault" in each for each in self.seen)

    def fault(self, turn: int | None, *, stream: bool) -> Fault | None:
        with self._lock:
            for number, each in enumerate(self.script.faults):
                left = not each.times or self._struck[number] < each.times
                if each.turn == turn and left and (stream or not each.only_streams):
                    self._struck[number] += 1
                    return each
        return None


class _Handler(BaseHTTPRequestHandler):
    provider: ScriptedProvider
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._note(path=self.path)
        self._json(200, {"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        length = int(self.headers.get("content-length") or 0)
        data = self.rfile.read(length)
        if len(data) < length:
            self.provider.broken_off += 1
            self.close_connection = True
            return
        body = json.loads(data or b"{}")
        api = next((kind() for pattern, kind in APIS if re.search(pattern, path)), None)
        if api is None:
            self._note(path=path)
            self._json(200, {"input_tokens": 7, "totalTokens": 7})
            return
        asked = api.asked(path, body)
        turn = turn_of(asked)
        entry = self._note(path=path, model=asked.model, turn=turn, stream=asked.stream)
        fault = self.provider.fault(turn, stream=asked.stream)
        if fault:
            entry["fault"] = fault.status
        if fault and fault.status:
            self._json(fault.status, api.error(fault.status, fault.message or "scripted"), dict(fault.headers))
            return
        told = answer_to(asked, self.provider.script)
        entry["called"] = bool(told.tool)
        if asked.stream:
            self._stream(api, list(api.events(asked, told)), fault, chat=type(api) is Chat)
        else:
            self._json(200, api.whole(asked, told), broken=fault is not None)
        entry["answered"] = fault is None

    def _note(self, **entry: Any) -> dict[str, Any]:
        entry["credentials"] = {name: self.headers[name] for name in CREDENTIALS if self.headers.get(name)}
        self.provider.seen.append(entry)
        return entry

    def _json(
        self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None, *, broken: bool = False
    ) -> None:
        data = json.dumps(body).encode()
        self._head(status, {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})})
        self.wfile.write(data[: len(data) // 2] if broken else data)
        if broken:
            self._break_off()

    def _stream(self, api: Api, events: list[tuple[str, dict[str, Any]]], fault: Fault | None, *, chat: bool) -> None:
        self._head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        for name, data in events[: int(len(events) * fault.share)] if fault else events:
            self._chunk((f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n")
            time.sleep(self.provider.pace_s)
        if fault:
            self._break_off()
            return
        self._chunk("data: [DONE]\n\n" if chat else "")
        if chat:
            self._chunk("")

    def _break_off(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _chunk(self, text: str) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(text.encode()), text.encode()))
        self.wfile.flush()

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
