"""A run packaged as one archive, from its arrival to what a moderator made of it."""

from datetime import timedelta
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, User
from django.db import models
from django.db.models import Q
from django.utils import timezone

from benchmark.models import Run

MODERATE = "benchmark.moderate_run"


class BundleState(models.TextChoices):
    """received → checking → accepted | rejected; accepted → published | hidden, which may change into each other."""

    RECEIVED = "received"
    CHECKING = "checking"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    PUBLISHED = "published"
    HIDDEN = "hidden"


IN_CHECK = (BundleState.RECEIVED, BundleState.CHECKING)
ACCEPTED = (BundleState.ACCEPTED, BundleState.PUBLISHED, BundleState.HIDDEN)
"""States of bundles that were imported as a run."""


class BundleQuerySet(models.QuerySet["Bundle"]):
    """Who sees what, and the conditional updates that move a bundle."""

    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """What is published, one's own, and everything for those who moderate."""
        if not isinstance(user, User):
            return self.filter(state=BundleState.PUBLISHED)
        return self if user.has_perm(MODERATE) else self.filter(Q(state=BundleState.PUBLISHED) | Q(owner=user))

    def stale(self, age_s: float) -> Self:
        """In the hands of a worker that has not been heard of for `age_s` seconds."""
        before = timezone.now() - timedelta(seconds=age_s)
        return self.filter(state=BundleState.CHECKING, heartbeat_at__lt=before)

    def move(self, pk: int, *, before: BundleState, after: BundleState, held_under: str = "", **values: Any) -> bool:
        """Move one bundle if it is still in `before` (and held under that lease, if given); False: it is not."""
        rows = self.filter(pk=pk, state=before)
        if held_under:
            rows = rows.filter(lease=held_under)
        return rows.update(state=after, **values) == 1


def new_slug() -> str:
    """A public id that sorts by time: `b-20261129-0214-3f9a1c`."""
    return f"b-{timezone.now():%Y%m%d-%H%M}-{uuid4().hex[:6]}"


class Bundle(models.Model):
    """One archive as it came. The file is never changed: a corrected upload is a new version linked to the old."""

    slug = models.CharField(max_length=40, unique=True, default=new_slug)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="bundles")
    state = models.CharField(max_length=16, choices=BundleState.choices, default=BundleState.RECEIVED)
    filename = models.CharField(max_length=200)
    """As the submitter called it; the stored file is named by us."""
    size = models.PositiveBigIntegerField()
    """Bytes."""
    sha256 = models.CharField(max_length=64, db_index=True)
    stored = models.CharField(max_length=200)
    """The archive, relative to the folder of bundles."""
    version_of = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="later")
    """The version that this one corrects."""
    version = models.PositiveIntegerField(default=1)
    part = models.CharField(max_length=1024, blank=True)
    """The folder of the archive that this bundle is about, where the archive holds several runs."""
    part_of = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="parts")
    """The bundle whose archive this is, when it is a further run of it."""
    details = models.JSONField(default=dict)
    """Members of a manifest that the submitter stated beside the archive: they fill what its files leave open."""
    run = models.OneToOneField(Run, null=True, on_delete=models.SET_NULL, related_name="bundle")
    layout = models.CharField(max_length=40, blank=True)
    report = models.JSONField(default=dict)
    """What the check found: `bundles.checking.report.Report`."""
    phase = models.CharField(max_length=40, blank=True)
    n_done = models.PositiveIntegerField(default=0)
    n_expected = models.PositiveIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=128, blank=True)
    lease = models.CharField(max_length=32, blank=True)
    heartbeat_at = models.DateTimeField(null=True)
    contact = models.CharField(max_length=200, blank=True)
    """Stated by the owner here, where the archive lacks it; so is the licence."""
    licence = models.CharField(max_length=100, blank=True)
    trust_before = models.CharField(max_length=16, blank=True)
    """The run's trust before it was flagged."""
    asked = models.TextField(blank=True)
    """The changes that a moderator asks for; empty when none are wanted."""
    created_at = models.DateTimeField(default=timezone.now)
    checked_at = models.DateTimeField(null=True)
    moderated_at = models.DateTimeField(null=True)
    moderated_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    objects = BundleQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = (models.Index(fields=("state", "heartbeat_at")), models.Index(fields=("owner", "created_at")))

    def __str__(self) -> str:
        return self.slug

    @property
    def path(self) -> Path:
        """The archive on this machine."""
        return Path(settings.BUNDLES_DIR) / self.stored

    @property
    def in_check(self) -> bool:
        return self.state in IN_CHECK

    def may_change(self, user: AbstractBaseUser | AnonymousUser) -> bool:
        """Its owner and moderators."""
        return isinstance(user, User) and (user.pk == self.owner_id or user.has_perm(MODERATE))
