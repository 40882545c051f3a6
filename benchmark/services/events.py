"""Writing to a run's event log, and ringing the doorbell that says so."""

import logging
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

from benchmark.models import EventKind, RunEvent

log = logging.getLogger(__name__)


def group_of(run_id: int) -> str:
    """The channel-layer group of a run's watchers."""
    return f"run.{run_id}"


def doorbell_ring(run_id: int) -> None:
    """Tell watchers that the log has grown. Without a channel layer they look for themselves; failures only delay."""
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        async_to_sync(layer.group_send)(group_of(run_id), {"type": "run.doorbell"})
    except Exception:
        log.warning("doorbell of run %s did not ring", run_id, exc_info=True)


def event_record(run_id: int, kind: EventKind, **data: Any) -> RunEvent:
    """Append one event and, once it is committed, ring."""
    event = RunEvent.objects.append(run_id, kind, **data)
    transaction.on_commit(lambda: doorbell_ring(run_id))
    return event
