"""Events to database rows: COPY into PostgreSQL, plain inserts elsewhere; model objects would cost ten times that."""

import hashlib
import json
import math
import re
from typing import Any

from django.db import connection

from traces.contract import TraceEvent
from traces.models import Event
from traces.models.event import PREVIEW

COLUMNS = (
    *("trace_id", "seq", "kind", "at", "line", "offset", "length", "agent", "session", "tool", "call_id", "call_seq"),
    *("message_id", "failed", "duration_s", "tokens_input", "tokens_output", "tokens_cached", "tokens_reasoning"),
    *("cost", "basis", "preview", "body_offset", "text_bytes", "argument_bytes", "detail"),
)
Row = tuple[Any, ...]
SEQ = COLUMNS.index("seq")
AT = COLUMNS.index("at")
IDENTIFIER = 200
DETAIL_BYTES = 16_384
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SPACE = re.compile(r"\s+")


def row_of(trace_id: int, event: TraceEvent, arguments: str, place: tuple[int, int, int]) -> Row:
    """`place`: where the body begins, bytes of its text, bytes of its arguments."""
    tokens = event.tokens
    return (
        trace_id,
        event.seq,
        event.kind.value,
        event.at,
        event.line,
        event.offset,
        event.length,
        identifier(event.agent),
        identifier(event.session),
        identifier(event.tool),
        identifier(event.call_id),
        event.call_seq,
        identifier(event.message_id),
        event.failed,
        event.duration_s,
        *((tokens.input, tokens.output, tokens.cached, tokens.reasoning) if tokens else (None, None, None, None)),
        event.cost,
        event.basis.value,
        storable(_SPACE.sub(" ", (event.text or arguments)[: 2 * PREVIEW]).strip()[:PREVIEW]),
        *place,
        _detail(event.detail),
    )


def storable(text: str) -> str:
    """Text as a database takes it: NULs and lone surrogates become U+FFFD (the body keeps them)."""
    return text if text.isascii() and "\x00" not in text else _UNSTORABLE.sub("\ufffd", text)


def identifier(text: str) -> str:
    """At most `IDENTIFIER` characters; of a longer one the beginning and a digest, so that two stay two."""
    if len(text) > IDENTIFIER:
        text = text[:160] + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
    return storable(text)


def _detail(detail: Any) -> str:
    if not detail:
        return "{}"
    text = json.dumps(detail, ensure_ascii=False, default=str)
    if len(text) > DETAIL_BYTES:
        return json.dumps({"too_large": len(text), "keys": [storable(str(key)[:40]) for key in list(detail)[:50]]})
    if "NaN" in text or "Infinity" in text or "\\u0000" in text or _UNSTORABLE.search(text):
        return json.dumps(storable_json(detail), ensure_ascii=False)
    return text


def storable_json(value: Any) -> Any:
    """NaN and infinities written as text, characters that cannot be stored replaced."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {storable(str(key)): storable_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return storable(str(value))


def rows_insert(rows: list[Row]) -> None:
    """Insert new rows. Must run within a transaction."""
    names = ", ".join(connection.ops.quote_name(name) for name in COLUMNS)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor, cursor.copy(f"COPY {Event._meta.db_table} ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        return
    marks = ", ".join(["%s"] * len(COLUMNS))
    adapt = connection.ops.adapt_datetimefield_value
    with connection.cursor() as cursor:
        statement = f"INSERT INTO {Event._meta.db_table} ({names}) VALUES ({marks})"  # noqa: S608
        cursor.executemany(statement, [(*row[:AT], adapt(row[AT]), *row[AT + 1 :]) for row in rows])
