"""Secrets handed out by the platform, kept only as digests."""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


def secret_new() -> str:
    """256 random bits, URL-safe, without a hyphen at the beginning: commands would take it for an option."""
    while (secret := secrets.token_urlsafe(32)).startswith("-"):
        pass
    return secret


def secret_hash(secret: str) -> str:
    """SHA-256 in hex. The secrets have full entropy, so no salt or stretching is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


class TokenScope(models.TextChoices):
    """What a token may be used for, within what its owner may do."""

    READ = "read", "Read what its owner may read"
    SUBMIT = "submit", "Submit bundles"
    OPERATE = "operate", "Start and cancel runs"
    ANNOTATE = "annotate", "Label runs"


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def usable(self) -> Self:
        """Neither revoked nor expired, and of an account that may sign in."""
        lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        return self.filter(lasting, revoked_at=None, user__is_active=True)


class ApiToken(models.Model):
    """A person's token for scripts: shown once, stored hashed, revocable; its scopes narrow its owner's permissions."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    secret_hash = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12, blank=True)
    """The secret's first characters, to know one token from another."""
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    """To a minute."""
    revoked_at = models.DateTimeField(null=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return self.name

    @property
    def usable(self) -> bool:
        return self.revoked_at is None and not self.expired

    @property
    def expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    def allows(self, scope: str) -> bool:
        return scope in self.scopes

    def use(self) -> None:
        """Note that it was used; written at most once a minute."""
        now = timezone.now()
        if self.last_used_at is None or now - self.last_used_at > timedelta(minutes=1):
            ApiToken.objects.filter(pk=self.pk).update(last_used_at=now)


def scopes_unknown(given: Iterable[str]) -> list[str]:
    """Those that are no scopes."""
    return sorted(set(given) - set(TokenScope.values))
