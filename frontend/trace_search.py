"""Searching a trace for the list: a match within a result stands at its call."""

from collections.abc import Sequence
from dataclasses import dataclass

from frontend.trace_events import Choice, allows, search_kinds
from frontend.trace_text import one_line
from traces.models import Trace
from traces.selectors import search

AT_ONCE = 500
EXCERPT = 240


@dataclass(frozen=True)
class Found:
    """`hits`: number and excerpt of each matching row, in order. With `more`, ask again after event `through`."""

    hits: Sequence[tuple[int, str]]
    more: bool
    through: int


def found(trace: Trace, text: str, filters: Sequence[Choice], after: int, limit: int = AT_ONCE) -> Found:
    """Raises: OSError: the trace's files are not here."""
    hits = search(trace, text, search_kinds(filters), after, limit)
    rows: dict[int, str] = {}
    for hit in hits.hits:
        if allows(filters, hit.event):
            rows.setdefault(hit.event.call_seq or hit.event.seq, one_line(hit.excerpt, EXCERPT))
    return Found(list(rows.items()), hits.more, hits.through)
