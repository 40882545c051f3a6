"""What people say about a run: labels of the paper's table 10 with their place in the trace, and decisions on them."""

from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from benchmark.models import Run
from traces.methods.failures import FailureType
from traces.models.annotation_queue import Labelling
from traces.models.trace import Trace

ANNOTATE = "traces.annotate"
ADJUDICATE = "traces.adjudicate"
TYPES = [(each.value, each.value) for each in FailureType]
NOTE_MOST = 10_000


def nothing_seen() -> dict[str, Any]:
    return {"annotations": [], "suggestions": []}


def _submitted_by(user: User) -> Exists:
    return Exists(Labelling.objects.submitted().filter(run=OuterRef("run"), author=user))


class AnnotationQuerySet(models.QuerySet["Annotation"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """One's own; and of runs that one has submitted, what others have submitted. Nothing without the permission."""
        if isinstance(user, AnonymousUser) or not user.has_perm(ANNOTATE):
            return self.none()
        theirs = Labelling.objects.submitted().filter(run=OuterRef("run"), author=OuterRef("author"))
        return self.filter(Q(author=user) | Q(Exists(theirs), _submitted_by(user)))

    def in_force(self) -> Self:
        """Without those that a later one revises."""
        return self.filter(revisions=None)

    def blind(self) -> Self:
        """Made before their author was shown anybody's label or a suggestion."""
        return self.filter(is_blind=True)

    def blind_in_force(self) -> Self:
        """The last word that each author gave blind: a revision made after seeing others does not replace it."""
        revised = Annotation.objects.filter(revises=OuterRef("pk"), is_blind=True)
        return self.blind().filter(~Exists(revised))


class Annotation(models.Model):
    """One statement of one person. Never changed: a revision is a new row that names the old one."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="annotations")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="annotations")
    trace = models.ForeignKey(Trace, null=True, on_delete=models.SET_NULL, related_name="annotations")
    first_seq = models.PositiveBigIntegerField(null=True)
    last_seq = models.PositiveBigIntegerField(null=True)
    """Both None: the statement is about the whole run."""
    failure_type = models.CharField(max_length=40, choices=TYPES, blank=True)
    """Empty: none of the five."""
    critical_seq = models.PositiveBigIntegerField(null=True)
    """The event that decided the failure, in the author's view."""
    note = models.TextField(blank=True)
    revises = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="revisions")
    is_blind = models.BooleanField()
    """Whether `seen_before` is empty."""
    seen_before = models.JSONField(default=nothing_seen)
    """Ids of the others' annotations and of the suggestions that the author had been shown before."""
    created_at = models.DateTimeField(default=timezone.now)

    objects = AnnotationQuerySet.as_manager()

    class Meta:
        ordering = ("run", "id")
        indexes = (models.Index(fields=("run", "author"), name="annotation_of"),)
        permissions = (
            ("annotate", "Can label runs, and see others' labels of a run after submitting own ones"),
            ("adjudicate", "Can decide between labels of runs"),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(first_seq=None, last_seq=None)
                | Q(first_seq__gte=1, last_seq__isnull=False, last_seq__gte=models.F("first_seq")),
                name="annotation_span",
            ),
            models.UniqueConstraint(fields=("revises",), name="annotation_revised_once"),
        )

    def __str__(self) -> str:
        return f"{self.run_id} {self.failure_type or 'none'}"


class AdjudicationQuerySet(models.QuerySet["Adjudication"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Those of runs that one has submitted labels for: a decision tells what the labels were."""
        if isinstance(user, AnonymousUser) or not user.has_perm(ANNOTATE):
            return self.none()
        return self.filter(_submitted_by(user))


class Adjudication(models.Model):
    """A decision on a run's labels. It stands beside them and edits none; a later one takes its place."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="adjudications")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    failure_types = models.JSONField(default=list)
    """Empty: none of the five."""
    critical_seq = models.PositiveBigIntegerField(null=True)
    note = models.TextField()
    annotations = models.JSONField(default=list)
    """Ids of the annotations that were decided on."""
    created_at = models.DateTimeField(default=timezone.now)

    objects = AdjudicationQuerySet.as_manager()

    class Meta:
        ordering = ("run", "id")

    def __str__(self) -> str:
        return f"{self.run_id} {', '.join(self.failure_types) or 'none'}"
