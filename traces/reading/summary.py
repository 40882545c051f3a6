"""What a whole transcript says of itself, kept up event by event."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from traces.contract import Basis, EventKind, Tokens, TraceEvent

FIELDS = ("input", "output", "cached", "reasoning")


@dataclass(slots=True)
class _Totals:
    """Shares are summed; of running totals the last one of each session counts."""

    sums: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    last: dict[str, dict[str, float]] = field(default_factory=dict)

    def add(self, event: TraceEvent) -> None:
        values = {name: getattr(event.tokens, name) for name in FIELDS} if event.tokens else {}
        values["cost"] = event.cost
        for name, value in values.items():
            if value is None:
                continue
            if event.basis == Basis.TOTAL:
                self.last.setdefault(name, {})[event.session] = value
            else:
                self.sums[name] += value
                self.known[name] += 1

    def total(self, name: str) -> float | None:
        """None where it is unknown, also for a part: a sum with gaps is no total."""
        if self.last.get(name):
            return sum(self.last[name].values())
        most = max((self.known[other] for other in ("input", "output")), default=0)
        if not self.known[name] or (name in ("input", "output") and self.known[name] < most):
            return None
        return self.sums[name]


@dataclass(slots=True)
class Summary:
    """Counts, totals, and the agent program's own statements."""

    kinds: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    """Raw events by their reason."""
    records: int = 0
    """JSON values of the source that a dialect was given."""
    merged: int = 0
    """Records that only repeat or continue others and became no event of their own."""
    recovered: int = 0
    """Records found inside damaged lines."""
    skewed: int = 0
    repeated_calls: int = 0
    unanswered: int = 0
    dialects: list[str] = field(default_factory=list)
    agent: str = ""
    version: str = ""
    model: str = ""
    sessions: list[str] = field(default_factory=list)
    first_at: datetime | None = None
    last_at: datetime | None = None
    declared: dict[str, int] = field(default_factory=dict)
    """What the transcript says it holds (turns, steps, calls, tool calls); compare with `stored`."""
    notes: list[str] = field(default_factory=list)
    _totals: _Totals = field(default_factory=_Totals)
    _messages: set[int] = field(default_factory=set)
    _declared_by: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def events(self) -> int:
        return self.kinds.total()

    def add(self, event: TraceEvent) -> None:
        self.kinds[event.kind] += 1
        if event.message_id and not event.agent:
            self._messages.add(hash((event.session, event.message_id)))
        if event.at is not None:
            self.first_at = min(self.first_at or event.at, event.at)
            self.last_at = max(self.last_at or event.at, event.at)
        if event.tokens is not None or event.cost is not None:
            self._totals.add(event)
        if event.kind == EventKind.RAW:
            self.reasons[str(event.detail.get("reason", ""))] += 1
        if event.kind == EventKind.SESSION:
            self._session(event)
        if event.kind == EventKind.RESULT and "declared" in event.detail:
            self._declare(event)
        if event.detail.get("model") and not self.model:
            self.model = str(event.detail["model"])
        if "clock_skew" in event.detail:
            self.skewed += 1

    def _session(self, event: TraceEvent) -> None:
        self.agent = self.agent or str(event.detail.get("agent", ""))
        self.version = self.version or str(event.detail.get("version", ""))
        if event.session and event.session not in self.sessions and len(self.sessions) < 100:
            self.sessions.append(event.session)

    def _declare(self, event: TraceEvent) -> None:
        """A session's last statement counts; those of several sessions add up."""
        self._declared_by[event.session] = dict(event.detail["declared"])
        self.declared = dict(sum((Counter(of) for of in self._declared_by.values()), Counter()))

    @property
    def stored(self) -> dict[str, int]:
        """The counterpart of `declared`. Claude Code counts a turn for each result, and one a session."""
        messages = len(self._messages) or self.kinds["assistant"]
        return {
            "turns": self.kinds["tool_result"] + len(self.sessions),
            "steps": messages,
            "model_calls": messages,
            "tool_calls": self.kinds["tool_call"],
            "samples": len(self.sessions),
        }

    @property
    def tokens(self) -> Tokens:
        total = self._totals.total
        values = {name: total(name) for name in FIELDS}
        return Tokens(**{name: None if value is None else int(value) for name, value in values.items()})

    @property
    def cost(self) -> float | None:
        return self._totals.total("cost")

    def as_data(self) -> dict[str, Any]:
        """For storing as JSON beside the trace."""
        tokens = self.tokens
        return {
            "kinds": dict(self.kinds),
            "reasons": dict(self.reasons),
            "records": self.records,
            "merged": self.merged,
            "recovered": self.recovered,
            "skewed": self.skewed,
            "repeated_calls": self.repeated_calls,
            "unanswered": self.unanswered,
            "dialects": self.dialects,
            "sessions": self.sessions,
            "declared": self.declared,
            "stored": {name: count for name, count in self.stored.items() if name in self.declared},
            "notes": self.notes,
            "tokens": {name: getattr(tokens, name) for name in FIELDS},
            "cost": self.cost,
        }
