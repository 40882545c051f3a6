"""What all dialects share: base classes, times, and text out of content in its many shapes."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any, ClassVar

from traces.contract import DocumentHead, EventKind, ReadBack, Record, Tokens, TraceEvent

WRONG_SHAPE = (AttributeError, TypeError, ValueError, KeyError, IndexError, OverflowError, RecursionError)
"""What a dialect raises on values of another type than the agent's own programs write."""
NESTED = 200
"""Levels of a JSON value. What parses here is written, walked and shown later, from deeper in the stack."""
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class _Base(ABC):
    name: ClassVar[str]
    agent: ClassVar[str] = ""

    def __init__(self, read_back: ReadBack) -> None:
        self.read_back = read_back

    @abstractmethod
    def record(self, record: Record) -> Iterable[TraceEvent] | None: ...

    def finish(self) -> Iterable[TraceEvent]:
        return ()


class LineBase(_Base):
    """See `contract.LineDialect`."""

    @classmethod
    @abstractmethod
    def recognises(cls, value: dict[str, Any]) -> bool: ...


class DocumentBase(_Base):
    """See `contract.DocumentDialect`."""

    @classmethod
    @abstractmethod
    def detects(cls, head: DocumentHead) -> bool: ...

    @classmethod
    def opens(cls, path: tuple[str | int, ...]) -> bool:
        return not path


def guarded(record: Record, work: Callable[[], Iterable[TraceEvent]]) -> list[TraceEvent]:
    """What `work` makes of the record; the record as a raw event when its shape is not the expected one."""
    try:
        return list(work())
    except WRONG_SHAPE:
        return [event(record, EventKind.RAW, as_json(record.value), detail={"reason": "unknown"})]


def event(record: Record, kind: EventKind, text: str = "", **values: Any) -> TraceEvent:
    """An event of this record, at the record's own time unless told another."""
    at = values.pop("at", None) or record.at
    return TraceEvent(kind, record.line, record.offset, record.length, text, at, **values)


def moment(value: Any) -> datetime | None:
    """An ISO 8601 text in UTC; None when it is none. Without a zone it is read as UTC."""
    if not isinstance(value, str) or len(value) < 10:
        return None
    try:
        at = datetime.fromisoformat(value)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def epoch(value: Any, per_second: float = 1) -> datetime | None:
    """Seconds (or milliseconds: 1000 per second) since 1970."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return datetime.fromtimestamp(value / per_second, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def count(value: Any) -> int | None:
    """A number of tokens, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None


def money(value: Any) -> float | None:
    """A finite amount, or None."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if abs(value) < 1e12 else None


def added(*values: int | None) -> int | None:
    """The sum of what is known; None when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def some(**values: Any) -> dict[str, Any]:
    """Only what is there."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def name_of(value: Any) -> str:
    """A short identifier: text as it is, numbers written out, all else empty."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def text_of(content: Any) -> str:
    """Text of a message's content: a string, parts of several shapes, or JSON where it is something else.

    Images become a line that says their type and size.
    """
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        return "\n".join(filter(None, map(_part, content)))
    return _part(content) if isinstance(content, dict) else as_json(content)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return "" if part is None else as_json(part)
    for key in ("text", "thinking", "reasoning"):
        if isinstance(part.get(key), str):
            return str(part[key])
    image = image_of(part)
    if image:
        return f"[image {image['media_type']}, {image['bytes']} bytes]" if image["bytes"] else f"[image {image['url']}]"
    return as_json(part)


def image_of(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """Media type and size of a part that is an image: Claude's, OpenAI's and ATIF's shapes."""
    if part.get("type") not in ("image", "image_url", "input_image", "output_image"):
        return None
    source = part.get("source") or part.get("image_url") or part.get("image") or part
    if isinstance(source, str):
        source = {"url": source}
    source = mapping(source)
    url, data = name_of(source.get("url") or source.get("path")), source.get("data")
    media = name_of(source.get("media_type") or source.get("mimeType") or part.get("mimeType"))
    if url.startswith("data:"):
        media, data = url[5:].split(";", 1)[0], url.partition(",")[2]
    size = len(data) * 3 // 4 if isinstance(data, str) else 0
    return {"media_type": media or "image", "bytes": size, "url": "" if url.startswith("data:") else url}


def images_in(content: Any) -> list[dict[str, Any]]:
    """For `detail["images"]`: the images of a content list, in order."""
    return [image for part in items(content) if isinstance(part, dict) and (image := image_of(part))]


def openai_usage(usage: Any) -> Tokens | None:
    """`prompt_tokens` (cached ones included), `completion_tokens` and their details."""
    usage = mapping(usage)
    if not usage:
        return None
    return Tokens(
        count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        count(usage.get("completion_tokens", usage.get("output_tokens"))),
        count(
            mapping(usage.get("prompt_tokens_details")).get(
                "cached_tokens", usage.get("cached_input_tokens", usage.get("cached_tokens"))
            )
        ),
        count(
            mapping(usage.get("completion_tokens_details")).get(
                "reasoning_tokens", usage.get("reasoning_output_tokens", usage.get("reasoning_tokens"))
            )
        ),
    )


def decoded(arguments: Any) -> Any:
    """Arguments given as a JSON string as what they say; the string itself when it is no JSON."""
    if isinstance(arguments, str):
        try:
            return parsed(arguments.encode())
        except ValueError:
            return arguments
    return arguments


def parsed(data: bytes) -> Any:
    """JSON, with invalid UTF-8 replaced. Raises: ValueError, also on more than `NESTED` levels."""
    if data.count(b"{") + data.count(b"[") > NESTED and _levels(data) > NESTED:
        raise ValueError("nested too deeply")
    try:
        return json.loads(data)
    except UnicodeDecodeError:
        return json.loads(data.decode("utf-8", "replace"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _levels(data: bytes) -> int:
    brackets = _STRING.sub(b"", data).translate(None, _NO_BRACKETS)
    return max(accumulate(1 if each in b"[{" else -1 for each in brackets), default=0)
