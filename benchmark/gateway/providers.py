"""Providers of language models: where they are, how their key is given, and which of their paths are let through."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from benchmark.gateway import usage

Dialect = Literal["anthropic", "openai", "gemini"]


@dataclass(frozen=True)
class Provider:
    """One provider as this deployment reaches it."""

    name: str
    dialect: Dialect
    url: str
    """What the paths below are appended to."""
    key: str = field(default="", repr=False)

    def credentials(self) -> list[tuple[bytes, bytes]]:
        """The headers that carry the key."""
        key = self.key.encode()
        if not key:
            return []
        named = {"anthropic": (b"x-api-key", key), "gemini": (b"x-goog-api-key", key)}
        return [named.get(self.dialect, (b"authorization", b"Bearer " + key))]


@dataclass(frozen=True)
class Endpoint:
    """A path of a provider's API. `read` is None where nothing is generated."""

    method: str
    path: re.Pattern[str]
    read: usage.Reader | None = None


def _endpoint(method: str, path: str, read: usage.Reader | None = None) -> Endpoint:
    return Endpoint(method, re.compile(path), read)


NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
ENDPOINTS: Mapping[Dialect, tuple[Endpoint, ...]] = {
    "anthropic": (
        _endpoint("POST", "/v1/messages", usage.anthropic),
        _endpoint("POST", "/v1/messages/count_tokens"),
        _endpoint("GET", f"/v1/models(/{NAME})?"),
    ),
    "openai": (
        _endpoint("POST", "/responses", usage.responses),
        _endpoint("POST", "/chat/completions", usage.chat),
        _endpoint("GET", f"/models(/{NAME})?"),
    ),
    "gemini": (
        _endpoint("POST", rf"/(?:v1|v1beta)/models/({NAME}):(?:g|streamG)enerateContent", usage.gemini),
        _endpoint("POST", rf"/(?:v1|v1beta)/models/({NAME}):countTokens"),
        _endpoint("GET", f"/(?:v1|v1beta)/models(/{NAME})?"),
    ),
}


def endpoint_of(dialect: Dialect, method: str, path: str) -> Endpoint | None:
    """The endpoint that such a request asks, or None: it is not let through."""
    return next((each for each in ENDPOINTS[dialect] if each.method == method and each.path.fullmatch(path)), None)


def model_of(endpoint: Endpoint, path: str, named: str) -> str:
    """The model that a request names: in its path, or else as `named` in its body."""
    found = endpoint.path.fullmatch(path)
    return found[1] if found and found.re.groups and endpoint.method == "POST" else named


def model_allowed(model: str, patterns: tuple[str, ...]) -> bool:
    """Whether the run may ask that model: its driver, a dated version of it, or what its agent declares beside it."""
    return any(fnmatchcase(model, pattern) for pattern in patterns)


def refusal(dialect: Dialect, status: int, kind: str, message: str) -> dict[str, Any]:
    """An error in the form that the provider's clients read."""
    if dialect == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}}
    if dialect == "gemini":
        return {"error": {"code": status, "status": kind.upper(), "message": message}}
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}
