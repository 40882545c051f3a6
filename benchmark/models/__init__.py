"""Runs and their event log."""

from benchmark.models.event import AgentLog, EventKind, RunEvent
from benchmark.models.run import HELD, TERMINAL, Mode, Origin, Run, RunState
from benchmark.models.token import ApiToken, secret_hash, secret_new

__all__ = [
    "HELD",
    "TERMINAL",
    "AgentLog",
    "ApiToken",
    "EventKind",
    "Mode",
    "Origin",
    "Run",
    "RunEvent",
    "RunState",
    "secret_hash",
    "secret_new",
]
