"""Stored transcripts."""

from traces.models.event import Event
from traces.models.trace import Trace, TraceState

__all__ = ["Event", "Trace", "TraceState"]
