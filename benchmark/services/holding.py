"""Holding a run: the lease under which one worker drives it, kept alive by heartbeats."""

import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from uuid import uuid4

from django.conf import settings
from django.utils import timezone

from benchmark.models import HELD, Run, RunState
from benchmark.services.pulse import repeated
from benchmark.services.runs import run_move, worker_name

STOPPING = threading.Event()
"""Set when this worker has been told to stop."""


@dataclass(frozen=True)
class Hold:
    """One worker's hold on one run. `lost` is set once the run is no longer ours; `cancelled` once a person asked."""

    run_id: int
    lease: str
    lost: threading.Event = field(default_factory=threading.Event)
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def must_end(self) -> bool:
        return self.lost.is_set() or self.cancelled.is_set() or STOPPING.is_set()

    def beat(self) -> None:
        """Say that we live, and learn whether the run is still ours and wanted."""
        mine = Run.objects.filter(pk=self.run_id, lease=self.lease, state__in=HELD)
        if not mine.update(heartbeat_at=timezone.now()):
            self.lost.set()
        elif mine.filter(cancel_requested_at__isnull=False).exists():
            self.cancelled.set()


def run_claim(run_id: int) -> Hold | None:
    """Take a queued run, or None when somebody else was first."""
    hold = Hold(run_id, uuid4().hex)
    claimed = run_move(
        run_id,
        before=RunState.QUEUED,
        after=RunState.PREPARING,
        lease=hold.lease,
        worker=worker_name(),
        place=settings.PLACE,
        heartbeat_at=timezone.now(),
    )
    return hold if claimed else None


def heartbeat(hold: Hold) -> AbstractContextManager[None]:
    """Beat while the body works."""
    return repeated(hold.beat, every_s=min(1.0, settings.HEARTBEAT_S), name=f"heartbeat-{hold.run_id}")
