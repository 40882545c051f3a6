"""A submitter's objection to what a moderator decided."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from bundles.models.bundle import Bundle


class AppealState(models.TextChoices):
    """open → upheld | dismissed."""

    OPEN = "open"
    UPHELD = "upheld"
    DISMISSED = "dismissed"


class Appeal(models.Model):
    """What is said against a flag or a hiding, and what came of it. One is open at a time."""

    bundle = models.ForeignKey(Bundle, on_delete=models.CASCADE, related_name="appeals")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    text = models.TextField()
    state = models.CharField(max_length=12, choices=AppealState.choices, default=AppealState.OPEN)
    answer = models.TextField(blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("bundle",), condition=models.Q(state="open"), name="appeal_one_open"),
        )

    def __str__(self) -> str:
        return f"appeal {self.pk} of bundle {self.bundle_id}"
