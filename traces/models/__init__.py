"""Stored transcripts, and what the platform recorded beside them."""

from traces.models.annotation import ADJUDICATE, ANNOTATE, Adjudication, Annotation
from traces.models.annotation_queue import Labelling, LabellingQueue, QueuedRun
from traces.models.annotation_suggestion import Exposure, Suggestion
from traces.models.event import Event
from traces.models.recording import Recording, ResourceSample
from traces.models.snapshot import CodeSnapshot, LabelSource, MethodLabel
from traces.models.trace import Trace, TraceState

__all__ = [
    "ADJUDICATE",
    "ANNOTATE",
    "Adjudication",
    "Annotation",
    "CodeSnapshot",
    "Event",
    "Exposure",
    "LabelSource",
    "Labelling",
    "LabellingQueue",
    "MethodLabel",
    "QueuedRun",
    "Recording",
    "ResourceSample",
    "Suggestion",
    "Trace",
    "TraceState",
]
