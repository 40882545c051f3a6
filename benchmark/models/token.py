"""Secrets handed out by the platform, kept only as digests."""

import hashlib
import secrets
from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone


def secret_new() -> str:
    """256 random bits, URL-safe."""
    return secrets.token_urlsafe(32)


def secret_hash(secret: str) -> str:
    """SHA-256 in hex. The secrets have full entropy, so no salt or stretching is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def usable(self) -> Self:
        return self.filter(revoked_at=None, user__is_active=True)


class ApiToken(models.Model):
    """A person's token for scripts: shown once, stored hashed, revocable; it carries its owner's permissions."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    secret_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = ApiTokenQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name
