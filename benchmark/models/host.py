"""A host of workers that shares no disk with the web server."""

from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone


class HostQuerySet(models.QuerySet["Host"]):
    def joined(self) -> Self:
        """Those whose token is good."""
        return self.filter(joined_at__isnull=False, removed_at=None)


class Host(models.Model):
    """Enrolled with a token that is good once; what it then shows is another one. Both are stored hashed."""

    name = models.SlugField(max_length=40, unique=True)
    """Also the name of its disk: `Run.place`."""
    queues = models.JSONField(default=list)
    enrol_hash = models.CharField(max_length=64, blank=True)
    enrol_until = models.DateTimeField(null=True)
    token_hash = models.CharField(max_length=64, blank=True, db_index=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    joined_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)

    objects = HostQuerySet.as_manager()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
