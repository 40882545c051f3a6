"""What a person is told on the site."""

from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone


class NotificationQuerySet(models.QuerySet["Notification"]):
    def unread(self) -> Self:
        return self.filter(read_at=None)


class Notification(models.Model):
    """One message, never changed but for having been read."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notifications")
    text = models.TextField()
    path = models.CharField(max_length=200, blank=True)
    """Of the page it is about."""
    created_at = models.DateTimeField(default=timezone.now)
    read_at = models.DateTimeField(null=True)
    mailed_at = models.DateTimeField(null=True)

    objects = NotificationQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        indexes = (models.Index(fields=("user", "read_at")),)

    def __str__(self) -> str:
        return f"to {self.user_id}: {self.text[:40]}"
