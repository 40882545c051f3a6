"""Making and revoking people's tokens."""

from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from benchmark.models import ApiToken, TokenScope, secret_hash, secret_new
from benchmark.models.token import scopes_unknown
from benchmark.services.audit import audit_record

DAYS_MOST, TOKENS_MOST = 366, 50
PREFIX = "a2_"


def token_create(*, user: User, name: str, scopes: Sequence[str], days: int | None = 90) -> tuple[ApiToken, str]:
    """A new token and its secret, which is kept nowhere. `days` until it expires, None: never.

    Raises: ValidationError: by field.
    """
    problems: dict[str, str] = {}
    if not name.strip() or len(name) > 80 or not name.isprintable():
        problems["name"] = "Give a name of at most 80 printable characters."
    if not scopes or scopes_unknown(scopes):
        problems["scopes"] = f"Give one or more of {', '.join(TokenScope.values)}."
    if days is not None and not 1 <= days <= DAYS_MOST:
        problems["days"] = f"Give 1 to {DAYS_MOST} days."
    if ApiToken.objects.usable().filter(user=user).count() >= TOKENS_MOST:
        problems["name"] = f"You have {TOKENS_MOST} tokens. Revoke one first."
    if problems:
        raise ValidationError(problems)
    secret = PREFIX + secret_new()
    with transaction.atomic():
        token = ApiToken.objects.create(
            user=user,
            name=name.strip(),
            secret_hash=secret_hash(secret),
            hint=secret[:8],
            scopes=[scope for scope in TokenScope.values if scope in scopes],
            expires_at=timezone.now() + timedelta(days=days) if days else None,
        )
        told = {"name": token.name, "scopes": token.scopes, "days": days}
        audit_record(actor=user, action="token.create", subject=token, **told)
    return token, secret


def token_revoke(*, token: ApiToken, actor: User) -> bool:
    """End a token; False when it was revoked before."""
    with transaction.atomic():
        done = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()) == 1
        if done:
            audit_record(actor=actor, action="token.revoke", subject=token, name=token.name)
    return done
