"""The five roles: Django groups whose permissions `manage.py migrate` keeps.

They are made after every migration and not in one: permissions of rooms that come later exist only then. A permission
that somebody added to a group by hand stays.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Q

SUBMIT = ("bundles.add_upload", "bundles.add_bundle")
ANNOTATION = ("traces.annotate", "traces.adjudicate", "traces.add_labellingqueue", "traces.label_run")
OPERATE = ("benchmark.operate_run",)
GOVERN = ("benchmark.moderate_run", "benchmark.view_auditentry", "auth.change_user")
MANAGE_ACCOUNTS, READ_AUDIT = "auth.change_user", "benchmark.view_auditentry"


@dataclass(frozen=True)
class Role:
    """A name, what it lets people do in words, and the permissions that let them."""

    name: str
    lets: str
    permissions: tuple[str, ...]


ROLES = (
    Role("visitor", "read everything that is public", ()),
    Role("submitter", "upload the bundles of runs made elsewhere", SUBMIT),
    Role("researcher", "label runs, decide between labels, upload bundles", (*ANNOTATION, *SUBMIT)),
    Role("operator", "start, repeat and cancel runs, drain workers, upload bundles", (*OPERATE, *SUBMIT)),
    Role(
        "admin",
        "do everything: operate, label, upload, moderate, give roles, read the audit log",
        (*OPERATE, *ANNOTATION, *SUBMIT, *GOVERN),
    ),
)
NAMES = tuple(role.name for role in ROLES)


def roles_sync(**_: Any) -> None:
    """Make the groups, and give each what it lacks. Permissions of rooms that are not installed are left out."""
    for role in ROLES:
        group, _made = Group.objects.get_or_create(name=role.name)
        group.permissions.add(*_permissions(role.permissions))


def _permissions(names: Iterable[str]) -> list[Permission]:
    wanted = Q(pk=None)
    for name in names:
        label, _, codename = name.partition(".")
        wanted |= Q(content_type__app_label=label, codename=codename)
    return list(Permission.objects.filter(wanted))


def roles_after_migrate(sender: Any, **_: Any) -> None:
    """Once, after the last application's permissions were made."""
    if sender is [app for app in apps.get_app_configs() if app.models_module][-1]:
        roles_sync()


def roles_of(user: User) -> list[Role]:
    """A person's roles, in the order of `ROLES`; nobody is less than a visitor."""
    held = {group.name for group in user.groups.all()}
    return [role for role in ROLES if role.name in held] or [ROLES[0]]
