"""A stored trace as JSON lines: one event a line with all its fields, whole text and arguments."""

from collections.abc import Iterator

from traces.export.writing import Bodies, dumped
from traces.models import Event, Trace

FIELDS = (
    *("seq", "kind", "at", "line", "offset", "length", "agent", "session", "tool", "call_id", "call_seq"),
    *("message_id", "failed", "duration_s", "tokens_input", "tokens_output", "tokens_cached", "tokens_reasoning"),
    *("cost", "basis", "detail"),
)


def jsonl(trace: Trace) -> Iterator[str]:
    """Lines in order. Memory is one event. Raises: OSError: the trace's files are not here."""
    rows = Event.objects.filter(trace=trace).order_by("seq").iterator(chunk_size=2000)
    with Bodies(trace) as bodies:
        for row in rows:
            values = {name: value for name in FIELDS if (value := getattr(row, name)) not in (None, "", {})}
            if row.at is not None:
                values["at"] = row.at.isoformat()
            text, arguments = bodies.read(row)
            values["text"] = text
            if arguments is not None:
                values["arguments"] = arguments
            yield dumped(values) + "\n"
