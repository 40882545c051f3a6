"""Writing to a run's event log, and ringing the doorbell that says so."""

from functools import partial
from typing import Any

from django.db import transaction

from benchmark.models import EventKind, RunEvent
from benchmark.services.doorbell import doorbell_ring, group_of


def event_record(run_id: int, kind: EventKind, /, *, at_seq: int | None = None, **data: Any) -> RunEvent:
    """Append one event (see `RunEventManager.append`) and, once it is committed, ring."""
    event = RunEvent.objects.append(run_id, kind, at_seq=at_seq, **data)
    transaction.on_commit(partial(doorbell_ring, group_of(run_id)))
    return event
