"""What a request asks of its provider. Of a conversation only the top of the body is read: the rest may be megabytes.

What is read here must be what the provider reads. So a body that two readers could understand differently is refused:
a key given twice, or once more in other letters or as an escape.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

import msgspec

from benchmark.gateway.providers import Endpoint, model_allowed, model_of

KEY = re.compile(rb'[ \t\r\n]*"([^"\\]*)"[ \t\r\n]*:[ \t\r\n]*')
NEXT = re.compile(rb"[ \t\r\n]*([,}])")
_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Refused(Exception):
    """The request does not go out."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status, self.kind = status, kind


@dataclass
class Asked:
    """A request to one of a provider's endpoints."""

    endpoint: Endpoint
    path: str
    query: str
    model: str = ""
    """Known once its body has been looked at."""

    @property
    def may_change(self) -> bool:
        """Whether its body may go out as another one."""
        return self.path.endswith("/chat/completions")

    def look(self, body: bytes | bytearray, models: tuple[str, ...]) -> Mapping[str, msgspec.Raw]:
        """The top of the body. Raises: Refused: no JSON object, or it asks another model than those."""
        told = top_of(body)
        self.model = model_of(self.endpoint, self.path, _text(_value(told, "model")))
        if not model_allowed(self.model, models):
            known, named = ", ".join(models), repr(self.model[:80])
            raise Refused(403, "permission_error", f"This run's driver is {known}; {named} may not be asked.")
        return told

    def sent(self, body: bytes, models: tuple[str, ...]) -> bytes:
        """The body to send. Raises: Refused."""
        if self.endpoint.method != "POST":
            return body
        told = self.look(body, models)
        return _telling_usage(told, body) if self.may_change else body


def top_of(body: bytes | bytearray) -> dict[str, msgspec.Raw]:
    """The values of a JSON object, unread, by key. Raises: Refused: it is none, or its keys can be read in two ways."""
    try:
        if not body.isascii():
            body.decode()
        told = _decoder.decode(body)
    except UnicodeDecodeError as error:
        raise _no_object(f"it is not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise _no_object("it is nested too deeply") from None
    except msgspec.DecodeError as error:
        raise _no_object(str(error)) from None
    distinct = len({key.casefold() for key in told}) == len(told)
    if not distinct or not (_compact(body, told) or _each_once(body, told)):
        raise Refused(400, "invalid_request_error", "Each key at the top of the body may be given once, unescaped.")
    return told


def without_key(query: bytes) -> str:
    """Without credentials, which Gemini's clients may put there."""
    return urlencode([(name, value) for name, value in parse_qsl(query.decode("latin-1")) if name != "key"])


def _no_object(why: str) -> Refused:
    return Refused(400, "invalid_request_error", f"The body must be a JSON object: {why[:200]}.")


def _compact(body: bytes | bytearray, told: Mapping[str, msgspec.Raw]) -> bool:
    """Whether the body is no longer than these keys and values: then it holds nothing else."""
    return len(body) == sum(len(key.encode()) + memoryview(value).nbytes + 4 for key, value in told.items()) + 1


def _each_once(body: bytes | bytearray, told: Mapping[str, msgspec.Raw]) -> bool:
    """Whether the body is exactly these keys with these values: of a key given twice only one value was kept."""
    at = body.index(b"{") + 1
    for key, value in told.items():
        found, text = KEY.match(body, at), bytes(value)
        if found is None or found[1] != key.encode() or not body.startswith(text, found.end()):
            return False
        end = NEXT.match(body, found.end() + len(text))
        if end is None:
            return False
        at = end.end()
    return not body[at:].strip(b" \t\r\n}")


def _value(told: Mapping[str, msgspec.Raw], name: str) -> msgspec.Raw | None:
    """The value of a key, whose letters may be capitals: some providers read them alike."""
    return next((value for key, value in told.items() if key.casefold() == name), None)


def _text(value: msgspec.Raw | None) -> str:
    """Empty for what is no text."""
    try:
        return "" if value is None else msgspec.json.decode(value, type=str)
    except msgspec.DecodeError:
        return ""


def _telling_usage(told: Mapping[str, msgspec.Raw], body: bytes) -> bytes:
    """A stream of Chat Completions tells its usage only when it is asked to."""
    stream, given = _value(told, "stream"), _value(told, "stream_options")
    if stream is None or bytes(stream) in (b"false", b"null"):
        return body
    try:
        options = {} if given is None else _decoder.decode(given)
    except (msgspec.DecodeError, RecursionError):
        options = {}
    others = {key: value for key, value in told.items() if value is not given}
    return msgspec.json.encode(others | {"stream_options": options | {"include_usage": True}})
