"""Reading a run's log for those who watch it: never more than one batch at a time."""

from dataclasses import dataclass
from typing import Any

from benchmark.models import AgentLog, Run, RunEvent
from frontend import ansi

BATCH = 500


@dataclass(frozen=True)
class Pulse:
    """How far a run's log and its agent's log have come."""

    seq: int
    log_size: int
    terminal: bool


def run_find(slug: str, person: Any) -> int | None:
    """The id of the run that this person may watch, or None."""
    return Run.objects.visible_to(person).filter(slug=slug).values_list("pk", flat=True).first()


def pulse(run_id: int) -> Pulse | None:
    """None: the run is gone. One query, cheap enough for several a second."""
    run = (
        Run.objects.filter(pk=run_id).only("event_seq", "state", "agent_log__size").select_related("agent_log").first()
    )
    if run is None:
        return None
    log = getattr(run, "agent_log", None)
    return Pulse(run.event_seq, log.size if log else 0, run.terminal)


def events_after(run_id: int, after: int, limit: int = BATCH) -> list[dict[str, Any]]:
    """The next events in order, JSON-ready: `{seq, kind, at, data}`."""
    rows = RunEvent.objects.filter(run_id=run_id, seq__gt=after).order_by("seq")[:limit]
    return [{"seq": row.seq, "kind": row.kind, "at": row.at.isoformat(), "data": row.data} for row in rows]


def log_tail(run_id: int) -> dict[str, Any]:
    """`{size, tail}`: characters printed so far, and the last of them as `[class, text]` spans."""
    row = AgentLog.objects.get(run_id=run_id)
    return {"size": row.size, "tail": ansi.spans(row.tail)}
