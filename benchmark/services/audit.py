"""Recording who changed what."""

from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, User
from django.db import models

from benchmark.models import AuditEntry


def audit_record(
    *, actor: AbstractBaseUser | AnonymousUser | None, action: str, subject: models.Model, **data: Any
) -> AuditEntry:
    """One entry, in the caller's transaction. `data` is JSON: never put a secret there."""
    person = actor if isinstance(actor, User) else None
    return AuditEntry.objects.create(
        actor=person,
        actor_name=person.get_username() if person else "",
        action=action,
        subject_type=subject._meta.label_lower,
        subject=str(getattr(subject, "slug", "") or subject.pk)[:80],
        data=data,
    )
