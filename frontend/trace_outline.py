"""The outline of a trace: its phases, and the submissions within them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from frontend.formats import clock
from frontend.trace_marks import Mark
from frontend.trace_text import harmless
from traces.contract import EventKind
from traces.models import Event, Trace

LISTED = 40
"""Submissions that the outline names; of more, those that matter."""
SESSIONS = 20


@dataclass
class Phase:
    """A stretch of the trace, from event `seq` on."""

    title: str
    seq: int
    elapsed_s: float | None
    marks: list[Mark] = field(default_factory=list)
    hidden: int = 0
    """Submissions that are not listed."""

    @property
    def clock(self) -> str:
        return clock(self.elapsed_s) if self.elapsed_s is not None else ""


def outline_of(trace: Trace, marks: Mapping[int, Mark], start: datetime | None) -> list[Phase]:
    """Phases: sessions of the agent program, the time before the first submission, and each stretch of one method."""
    phases = _sessions(trace, start)
    placed = [mark for mark in marks.values() if mark.seq is not None]
    if placed and not any(phase.seq >= (placed[0].seq or 0) for phase in phases[1:]):
        phases[0].title = "Before the first submission" if len(phases) == 1 else phases[0].title
        first = next((str(mark.switch.before) for mark in placed if mark.switch), "Submissions")
        phases.append(Phase(first, placed[0].seq or 1, placed[0].elapsed_s))
    for mark in placed:
        if mark.switch:
            phases.append(Phase(str(mark.switch.after), mark.seq or 1, mark.elapsed_s))
    phases.sort(key=lambda phase: phase.seq)
    shown = {mark.number for mark in notable(placed, LISTED)}
    for mark in placed:
        phase = [phase for phase in phases if phase.seq <= (mark.seq or 0)][-1]
        if mark.number in shown:
            phase.marks.append(mark)
        else:
            phase.hidden += 1
    return phases


def notable(marks: Sequence[Mark], most: int) -> list[Mark]:
    """At most `most`: switches and new bests first, then evenly spread ones."""
    if len(marks) <= most:
        return list(marks)
    telling = [mark for mark in marks if mark.switch or mark.new_best][-most:]
    rest = [mark for mark in marks if mark not in telling]
    room = most - len(telling)
    spread = [rest[at * len(rest) // room] for at in range(room)] if room else []
    return sorted([*telling, *spread], key=lambda mark: mark.number)


def _sessions(trace: Trace, start: datetime | None) -> list[Phase]:
    rows = Event.objects.filter(trace=trace, kind=EventKind.SESSION, agent="").order_by("seq")[:SESSIONS]
    found = []
    for number, row in enumerate(rows, 1):
        elapsed = (row.at - start).total_seconds() if row.at and start else None
        agent = harmless(str(row.detail.get("agent") or "")) if isinstance(row.detail, dict) else ""
        found.append(Phase(f"Session {number}" + (f", {agent}" if agent else ""), row.seq, elapsed))
    if not found or found[0].seq > 1:
        found.insert(0, Phase("Beginning", 1, 0.0 if start else None))
    return found
