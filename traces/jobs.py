"""Celery jobs of the traces room: parse, call one service."""

from celery import shared_task
from django.conf import settings

from benchmark.services.queueing import job_send
from benchmark.services.slots import Slots
from traces.models import CodeSnapshot
from traces.services.labels import label_next
from traces.services.recording_sealing import recording_ingest as ingest
from traces.services.recording_sealing import recordings_mend

_slots = Slots(1)
LABELS_AT_A_TIME = 20
"""Grading comes first where one process does both."""


@shared_task
def labels_make() -> None:
    """Judge some of the code that waits for it, one submission at a time in this process; the sweep rings again."""
    left = iter(range(LABELS_AT_A_TIME))
    _slots.drain(lambda: next(left, None) is not None and label_next())


@shared_task
def recording_ingest(run_id: int) -> None:
    """Read a sealed log into the run's trace."""
    ingest(run_id)


@shared_task
def recordings_sweep() -> None:
    """Mend what was left behind."""
    recordings_mend()
    # Nobody waits for labels as an agent waits for its score: they come with the sweep.
    if CodeSnapshot.objects.unlabelled().filter(run__place=settings.PLACE).exists():
        job_send("traces.jobs.labels_make", place=settings.PLACE)
