"""Runs and their event log."""

from benchmark.models.audit import AuditEntry
from benchmark.models.event import AgentLog, EventKind, RunEvent
from benchmark.models.host import Host
from benchmark.models.integrity import IntegrityFinding, IntegritySource
from benchmark.models.run import HELD, TERMINAL, Mode, Origin, Run, RunState, Trust
from benchmark.models.stored import StoredArtifact
from benchmark.models.token import ApiToken, TokenScope, secret_hash, secret_new
from benchmark.models.worker import Worker

__all__ = [
    "HELD",
    "TERMINAL",
    "AgentLog",
    "ApiToken",
    "AuditEntry",
    "EventKind",
    "Host",
    "IntegrityFinding",
    "IntegritySource",
    "Mode",
    "Origin",
    "Run",
    "RunEvent",
    "RunState",
    "StoredArtifact",
    "TokenScope",
    "Trust",
    "Worker",
    "secret_hash",
    "secret_new",
]
