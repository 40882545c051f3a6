"""Who changed what, and when: insert-only."""

from django.conf import settings
from django.db import models
from django.utils import timezone


class AuditEntry(models.Model):
    """One change by a person or by the platform itself (`actor` None). `data` never holds a secret."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    actor_name = models.CharField(max_length=150, blank=True)
    """As it was then: it outlives the account."""
    action = models.CharField(max_length=64)
    """`<noun>.<verb>`, such as `run.cancel`."""
    subject_type = models.CharField(max_length=64)
    subject = models.CharField(max_length=80)
    """The subject's slug, else its key."""
    data = models.JSONField(default=dict)

    class Meta:
        ordering = ("-id",)
        indexes = (models.Index(fields=("subject_type", "subject")),)

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"
