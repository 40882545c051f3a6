"""Runs and their event log."""

from benchmark.models.audit import AuditEntry
from benchmark.models.event import AgentLog, EventKind, RunEvent
from benchmark.models.run import HELD, TERMINAL, Mode, Origin, Run, RunState, Trust
from benchmark.models.token import ApiToken, secret_hash, secret_new

__all__ = [
    "HELD",
    "TERMINAL",
    "AgentLog",
    "ApiToken",
    "AuditEntry",
    "EventKind",
    "Mode",
    "Origin",
    "Run",
    "RunEvent",
    "RunState",
    "Trust",
    "secret_hash",
    "secret_new",
]
