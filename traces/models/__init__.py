"""Stored transcripts, and what the platform recorded beside them."""

from traces.models.event import Event
from traces.models.recording import Recording, ResourceSample
from traces.models.snapshot import CodeSnapshot, LabelSource, MethodLabel
from traces.models.trace import Trace, TraceState

__all__ = [
    "CodeSnapshot",
    "Event",
    "LabelSource",
    "MethodLabel",
    "Recording",
    "ResourceSample",
    "Trace",
    "TraceState",
]
