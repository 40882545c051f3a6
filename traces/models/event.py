"""One normalised step of a transcript as a row: what lists and filters need. Its text is in the trace's files."""

from typing import Self

from django.db import models
from django.db.models import Q

from traces.contract import EventKind
from traces.models.trace import Trace

PREVIEW = 300


class EventQuerySet(models.QuerySet["Event"]):
    """Reusable filters."""

    def of_kinds(self, kinds: tuple[str, ...]) -> Self:
        """All kinds when none is named."""
        return self.filter(kind__in=kinds) if kinds else self


class Event(models.Model):
    """Never changed. The fields are those of `contract.TraceEvent`, which explains them."""

    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=12, choices=[(kind.value, kind.value) for kind in EventKind])
    at = models.DateTimeField(null=True)
    line = models.PositiveBigIntegerField()
    offset = models.PositiveBigIntegerField()
    length = models.PositiveBigIntegerField()
    agent = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=200, blank=True)
    tool = models.CharField(max_length=200, blank=True)
    call_id = models.CharField(max_length=200, blank=True)
    call_seq = models.PositiveBigIntegerField(null=True)
    message_id = models.CharField(max_length=200, blank=True)
    failed = models.BooleanField(null=True)
    duration_s = models.FloatField(null=True)
    tokens_input = models.BigIntegerField(null=True)
    tokens_output = models.BigIntegerField(null=True)
    tokens_cached = models.BigIntegerField(null=True)
    tokens_reasoning = models.BigIntegerField(null=True)
    cost = models.FloatField(null=True)
    basis = models.CharField(max_length=8)
    preview = models.CharField(max_length=PREVIEW, blank=True)
    """The beginning of the text, on one line; of a call without text, of its arguments."""
    body_offset = models.PositiveBigIntegerField()
    text_bytes = models.PositiveBigIntegerField()
    argument_bytes = models.PositiveBigIntegerField()
    detail = models.JSONField(default=dict)

    objects = EventQuerySet.as_manager()

    class Meta:
        ordering = ("trace", "seq")
        constraints = (models.UniqueConstraint(fields=("trace", "seq"), name="trace_event_once"),)
        indexes = (
            models.Index(fields=("trace", "line"), name="trace_event_line"),
            models.Index(fields=("trace", "call_id"), name="trace_event_call", condition=~Q(call_id="")),
            models.Index(fields=("trace", "kind", "seq"), name="trace_event_kind"),
            models.Index(fields=("trace", "at"), name="trace_event_at", condition=Q(at__isnull=False)),
        )

    def __str__(self) -> str:
        return f"{self.trace_id}/{self.seq} {self.kind}"
