"""Failure types that rules or a language model suggest, and who has been shown what."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from benchmark.models import Run
from traces.models.annotation import ANNOTATE, TYPES, Annotation
from traces.models.annotation_queue import Labelling


class SuggestionQuerySet(models.QuerySet["Suggestion"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Those of runs that one has submitted labels for."""
        if isinstance(user, AnonymousUser) or not user.has_perm(ANNOTATE):
            return self.none()
        return self.filter(Exists(Labelling.objects.submitted().filter(run=OuterRef("run"), author=user)))


class Suggestion(models.Model):
    """A suggestion for ever: nothing confirms it but a person's own annotation. Never changed."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="suggestions")
    source = models.CharField(max_length=128)
    """`rules`, or `llm:` and the model."""
    failure_type = models.CharField(max_length=40, choices=TYPES, blank=True)
    """Empty: the source looked and suggests none."""
    confidence = models.CharField(max_length=8, blank=True)
    evidence = models.JSONField(default=list)
    """Sentences."""
    created_at = models.DateTimeField(default=timezone.now)

    objects = SuggestionQuerySet.as_manager()

    class Meta:
        ordering = ("run", "id")

    def __str__(self) -> str:
        return f"{self.run_id} {self.source}: {self.failure_type or 'none'}"


class Exposure(models.Model):
    """Somebody was shown another's annotation, or a suggestion. Never changed."""

    reader = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    annotation = models.ForeignKey(Annotation, null=True, on_delete=models.CASCADE, related_name="+")
    suggestion = models.ForeignKey(Suggestion, null=True, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("id",)
        indexes = (models.Index(fields=("reader", "run"), name="exposure_of"),)
        constraints = (
            models.UniqueConstraint(fields=("reader", "annotation"), name="exposed_annotation_once"),
            models.UniqueConstraint(fields=("reader", "suggestion"), name="exposed_suggestion_once"),
            models.CheckConstraint(
                condition=Q(annotation=None, suggestion__isnull=False) | Q(annotation__isnull=False, suggestion=None),
                name="exposed_one",
            ),
        )

    def __str__(self) -> str:
        return f"{self.reader_id} saw {self.annotation_id or self.suggestion_id}"
