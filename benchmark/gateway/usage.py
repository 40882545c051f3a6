"""How many tokens a provider says a request took, in the words of each provider's API.

Anthropic Messages: `usage` (docs.anthropic.com, "Messages"); OpenAI Responses and Chat Completions: `usage`
(platform.openai.com, API reference); Gemini: `usageMetadata` (ai.google.dev, "GenerateContentResponse"). What OpenAI
and Gemini call input includes what came from their cache; Anthropic's does not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Usage:
    """Tokens of one or more requests. The four parts do not overlap."""

    input: int = 0
    """Read anew."""
    cached: int = 0
    """Read from the provider's cache."""
    written: int = 0
    """Read anew and put into the provider's cache, where that has its own price."""
    output: int = 0

    @property
    def total(self) -> int:
        return self.input + self.cached + self.written + self.output

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)))


def anthropic(message: Json, before: Usage | None) -> Usage | None:
    """A whole message, or a stream's `message_start` and `message_delta`: later ones hold sums, not differences."""
    usage = message.get("usage") or _within(message, "message").get("usage")
    if not isinstance(usage, Mapping):
        return before
    known = before or Usage()
    return Usage(
        input=_count(usage, "input_tokens", known.input),
        cached=_count(usage, "cache_read_input_tokens", known.cached),
        written=_count(usage, "cache_creation_input_tokens", known.written),
        output=_count(usage, "output_tokens", known.output),
    )


def responses(message: Json, before: Usage | None) -> Usage | None:
    """A whole response, or the last event of a stream, which holds it."""
    usage = message.get("usage") or _within(message, "response").get("usage")
    return _openai(usage, "input_tokens", "output_tokens") or before


def chat(message: Json, before: Usage | None) -> Usage | None:
    """A whole completion, or the last chunk of a stream that was asked to `include_usage`."""
    return _openai(message.get("usage"), "prompt_tokens", "completion_tokens") or before


def gemini(message: Json, before: Usage | None) -> Usage | None:
    """A whole answer or a chunk: each holds sums so far."""
    usage = message.get("usageMetadata")
    if not isinstance(usage, Mapping):
        return before
    cached = _count(usage, "cachedContentTokenCount")
    asked = _count(usage, "promptTokenCount") + _count(usage, "toolUsePromptTokenCount")
    said = _count(usage, "candidatesTokenCount") + _count(usage, "thoughtsTokenCount")
    return Usage(input=max(0, asked - cached), cached=cached, output=said)


Reader = Callable[[Json, Usage | None], Usage | None]


def _openai(usage: Any, asked: str, said: str) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    details = _within(usage, f"{asked}_details")
    cached, written = _count(details, "cached_tokens"), _count(details, "cache_write_tokens")
    anew = max(0, _count(usage, asked) - cached - written)
    return Usage(input=anew, cached=cached, written=written, output=_count(usage, said))


def _within(message: Json, key: str) -> Json:
    found = message.get(key)
    return found if isinstance(found, Mapping) else {}


def _count(usage: Json, key: str, default: int = 0) -> int:
    """A number of tokens as told; what is no such number counts as not told."""
    value = usage.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default
