"""One line of a transcript: JSON, JSON with damage, or text."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from traces.dialects.common import parsed

STAMP = re.compile(rb"\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?)(Z|[+-]\d\d:\d\d)?\] ?")
"""PostTrainBench's wrapper puts one in front of every line."""
_RECORD = re.compile(
    rb'\{\s*"(?:type|kind|id|timestamp|parentUuid|uuid|session_id|sessionId|sessionID|thread_id|source)"'
)
ATTEMPTS = 200
_decoder = json.JSONDecoder()


class Part(NamedTuple):
    """A piece of a line: a JSON object, or, where `value` is None, text with the reason why."""

    start: int
    end: int
    value: dict[str, Any] | None
    reason: str = ""


def stamped(line: bytes) -> tuple[datetime | None, int]:
    """The time in front of a line, and where the line proper begins."""
    found = STAMP.match(line) if line[:1] == b"[" else None
    if found is None:
        return None, 0
    try:
        at = datetime.fromisoformat((found[1] + (found[2] or b"")).decode())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC), found.end()
    except (ValueError, OverflowError):
        return None, 0


def parts(line: bytes, start: int, known: Callable[[dict[str, Any]], bool]) -> Iterator[Part]:
    """`line` from `start` on as records and text, without a gap. `known`: whether a damaged line may hold a record.

    A line that is one object gives one part. Else records are looked for inside: two glued together, or a valid rest
    after rubbish; what lies between is text.
    """
    body = line[start:] if start else line
    if not body.lstrip().startswith(b"{"):
        reason = "not_json"
        if b'{"' not in body and b'{ "' not in body:
            yield Part(start, len(line), None, reason)
            return
    else:
        reason = "damaged"
        try:
            value = parsed(body)
        except ValueError:
            pass
        else:
            yield Part(start, len(line), value)
            return
    yield from _recovered(line, start, reason, known)


def _recovered(line: bytes, start: int, reason: str, known: Callable[[dict[str, Any]], bool]) -> Iterator[Part]:
    text = line.decode("latin-1")  # one character a byte, so that positions agree
    budget = 8 * len(line) + 65_536
    at = start
    for _, candidate in zip(range(ATTEMPTS), _RECORD.finditer(line, start), strict=False):
        first = candidate.start()
        if first < at:
            continue
        try:
            _, end = _decoder.raw_decode(text, first)
            value = parsed(line[first:end])
        except json.JSONDecodeError as error:
            budget -= max(1, error.pos - first)
            if budget < 0:
                break
            continue
        except (ValueError, RecursionError):
            continue
        rest = line[end:].lstrip()
        if not (first == at == start or not rest or rest.startswith(b"{")) or not known(value):
            continue
        if line[at:first].strip():
            yield Part(at, first, None, reason)
        yield Part(first, end, value, "recovered")
        at = end
    if line[at:].strip():
        yield Part(at, len(line), None, reason)
