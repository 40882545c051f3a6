"""What a growing trace changes above its end."""

from traces.contract import EventKind
from traces.models import Event, Trace

MOST = 60


def renewed(trace: Trace, after: int | None, seen: int | None) -> list[int]:
    """Calls up to event `after` whose results have come since there were `seen` events."""
    if after is None or seen is None or seen >= trace.event_count:
        return []
    results = Event.objects.filter(trace=trace, seq__gt=seen, kind=EventKind.TOOL_RESULT, call_seq__lte=after)
    return [seq for seq in results.order_by("seq").values_list("call_seq", flat=True)[:MOST] if seq]
