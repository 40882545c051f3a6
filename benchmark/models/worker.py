"""Workers that have reported, busy or not."""

from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone

FORGOTTEN = timedelta(days=2)


class WorkerQuerySet(models.QuerySet["Worker"]):
    def recent(self) -> Self:
        """Those heard of within two days."""
        return self.filter(seen_at__gt=timezone.now() - FORGOTTEN)

    def live(self) -> Self:
        """Those that have not missed two heartbeats, nor said that they end."""
        silent = timezone.now() - timedelta(seconds=2 * settings.HEARTBEAT_S)
        return self.filter(seen_at__gt=silent, ended_at=None)


class Worker(models.Model):
    """One worker process. It writes its own row at every heartbeat; only `draining` is written by people."""

    name = models.CharField(max_length=128, unique=True)
    """Host and process id, as runs and evaluations name who holds them."""
    host = models.CharField(max_length=128)
    place = models.CharField(max_length=40, blank=True)
    """The disk it works on, as runs name it."""
    queues = models.JSONField(default=list)
    slots = models.JSONField(default=dict)
    """By queue: how much it does at a time."""
    gpus = models.JSONField(default=list)
    """`{index, percent, memory_bytes, memory_total, watts}` each; unknown values are None."""
    versions = models.JSONField(default=dict)
    notices = models.JSONField(default=list)
    """What it cannot do, in sentences."""
    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now, db_index=True)
    ended_at = models.DateTimeField(null=True)
    """When it said that it ends; None while it works, and for one that died."""
    draining = models.BooleanField(default=False)
    """Told to take nothing more: what it holds it brings to its end."""

    objects = WorkerQuerySet.as_manager()

    class Meta:
        ordering = ("host", "name")

    def __str__(self) -> str:
        return self.name

    @property
    def silent(self) -> bool:
        """Not heard of for two heartbeats, without having said that it ends."""
        if self.ended_at is not None:
            return False
        return (timezone.now() - self.seen_at).total_seconds() > 2 * settings.HEARTBEAT_S

    @property
    def standing(self) -> str:
        """`ended`, `silent`, `draining` or `live`."""
        if self.ended_at is not None:
            return "ended"
        if self.silent:
            return "silent"
        return "draining" if self.draining else "live"
