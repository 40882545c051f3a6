"""People with roles, signed in or with a token."""

from typing import Any

from django.contrib.auth.models import Group, User
from django.test import Client

from benchmark.services.tokens import token_create
from frontend.roles import roles_sync

ROLES = ("visitor", "submitter", "researcher", "operator", "admin")


def person(name: str, *roles: str) -> User:
    """An account with these roles."""
    roles_sync()
    user = User.objects.create_user(name)
    user.groups.set(Group.objects.filter(name__in=roles))
    return User.objects.get(pk=user.pk)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def with_token(user: User, *scopes: str) -> Client:
    """A client that sends a token of these scopes."""
    _, secret = token_create(user=user, name="test", scopes=scopes)
    headers: Any = {"authorization": f"Bearer {secret}"}
    return Client(headers=headers)
