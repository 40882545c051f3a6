"""Making accounts and giving roles; every change is in the audit log."""

import secrets
from collections.abc import Iterable

from django.contrib.auth.models import Group, User
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from benchmark.services.audit import audit_record
from frontend.roles import NAMES


def account_create(*, name: str, roles: Iterable[str], actor: User | None, password: str = "") -> tuple[User, str]:
    """A new account and its password, made up unless given. Raises: ValidationError: by field."""
    problems: dict[str, str] = {}
    try:
        UnicodeUsernameValidator()(name)
        if len(name) > 150 or User.objects.filter(username__iexact=name).exists():
            raise ValidationError("This name is taken, or longer than 150 characters.")
    except ValidationError as error:
        problems["name"] = " ".join(error.messages)
    held = _known(roles)
    if problems:
        raise ValidationError(problems)
    password = password or secrets.token_urlsafe(15)
    try:
        validate_password(password)
        with transaction.atomic():
            user = User.objects.create_user(name, password=password)
            user.groups.set(Group.objects.filter(name__in=held))
            audit_record(actor=actor, action="account.create", subject=user, name=name, roles=held)
    except IntegrityError:
        raise ValidationError({"name": "This name is taken."}) from None
    return user, password


def account_roles(*, user: User, roles: Iterable[str], actor: User | None) -> list[str]:
    """Give a person exactly these roles; what they are now. Raises: ValidationError."""
    held = _known(roles)
    if actor is not None and actor.pk == user.pk and not actor.is_superuser and "admin" not in held:
        raise ValidationError({"roles": "You cannot take the admin role from yourself; another admin can."})
    if actor is not None and user.is_superuser and not actor.is_superuser:
        raise ValidationError({"roles": "Only a superuser changes a superuser."})
    with transaction.atomic():
        before = sorted(user.groups.values_list("name", flat=True))
        others = list(user.groups.exclude(name__in=NAMES))
        user.groups.set([*others, *Group.objects.filter(name__in=held)])
        audit_record(actor=actor, action="account.roles", subject=user, name=user.username, before=before, after=held)
    return held


def account_active(*, user: User, active: bool, actor: User | None) -> None:
    """Let a person sign in, or not; tokens and sessions of a closed account are dead at once.

    Raises: ValidationError: one's own account, or a superuser's.
    """
    if actor is not None and actor.pk == user.pk:
        raise ValidationError({"active": "You cannot close your own account."})
    if actor is not None and user.is_superuser and not actor.is_superuser:
        raise ValidationError({"active": "Only a superuser changes a superuser."})
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(is_active=active)
        action = "account.open" if active else "account.close"
        audit_record(actor=actor, action=action, subject=user, name=user.username)


def account_password(*, user: User, password: str, actor: User | None) -> str:
    """Set a password, made up when empty. Raises: ValidationError: too weak."""
    password = password or secrets.token_urlsafe(15)
    validate_password(password, user)
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        audit_record(actor=actor, action="account.password", subject=user, name=user.username)
    return password


def _known(roles: Iterable[str]) -> list[str]:
    given = list(roles)
    if unknown := sorted(set(given) - set(NAMES)):
        raise ValidationError({"roles": f"Unknown: {', '.join(unknown)[:200]}. Known are {', '.join(NAMES)}."})
    return [name for name in NAMES if name in given]
