"""An archive on its way: it may be cut at any byte and go on later."""

import secrets
from pathlib import Path
from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from bundles.models.bundle import Bundle


def new_key() -> str:
    return secrets.token_urlsafe(24)


class UploadQuerySet(models.QuerySet["Upload"]):
    def open(self) -> Self:
        """Not finished, and still in time."""
        return self.filter(bundle=None, expires_at__gt=timezone.now())

    def expired(self) -> Self:
        return self.filter(expires_at__lte=timezone.now())


class Upload(models.Model):
    """One tus upload. How much has arrived is the size of its file in quarantine: that survives any crash."""

    key = models.CharField(max_length=40, unique=True, default=new_key)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="uploads")
    filename = models.CharField(max_length=200)
    length = models.PositiveBigIntegerField()
    """Bytes, as announced."""
    sha256 = models.CharField(max_length=64, blank=True)
    """As announced; empty: the client did not say."""
    details = models.JSONField(default=dict)
    """As in `Bundle.details`."""
    version_of = models.ForeignKey(Bundle, null=True, on_delete=models.SET_NULL, related_name="+")
    bundle = models.ForeignKey(Bundle, null=True, on_delete=models.CASCADE, related_name="uploads")
    """What came of it, once every byte has arrived."""
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()

    objects = UploadQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        indexes = (models.Index(fields=("owner", "expires_at")),)

    def __str__(self) -> str:
        return f"upload {self.pk}: {self.filename}"

    @property
    def path(self) -> Path:
        return Path(settings.BUNDLES_DIR) / "quarantine" / self.key

    @property
    def offset(self) -> int:
        """Bytes that have arrived."""
        if self.bundle_id is not None:
            return self.length
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0
