"""What the account page, the list of accounts and the audit log show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from benchmark.models import ApiToken, AuditEntry, TokenScope
from frontend.bad_query import BadQuery
from frontend.roles import ANNOTATION, OPERATE, ROLES, SUBMIT, Role, roles_of

AUDIT_PER_PAGE, ACCOUNTS_SHOWN, TOKENS_SHOWN = 50, 200, 100
SCOPE_NEEDS = {
    TokenScope.READ: (),
    TokenScope.SUBMIT: SUBMIT,
    TokenScope.OPERATE: OPERATE,
    TokenScope.ANNOTATE: ANNOTATION,
}


@dataclass(frozen=True)
class AccountPage:
    """A person's own account."""

    user: User

    @property
    def roles(self) -> list[Role]:
        return roles_of(self.user)

    @property
    def tokens(self) -> QuerySet[ApiToken]:
        return ApiToken.objects.filter(user=self.user)[:TOKENS_SHOWN]

    @property
    def scopes(self) -> list[tuple[str, str, bool]]:
        """`(value, what it allows, whether the person has anything to do with it)`."""
        return [
            (scope.value, str(scope.label), not needs or any(self.user.has_perm(each) for each in needs))
            for scope, needs in SCOPE_NEEDS.items()
        ]


@dataclass(frozen=True)
class AccountRow:
    user: User
    held: list[str]

    @property
    def roles(self) -> list[tuple[str, str, bool]]:
        """`(name, what it lets, whether held)` of every role but the visitor's, which everybody has."""
        return [(role.name, role.lets, role.name in self.held) for role in ROLES[1:]]


def account_rows(text: str = "") -> list[AccountRow]:
    """The accounts whose name has that text, by name; at most ACCOUNTS_SHOWN."""
    found = User.objects.filter(username__icontains=text).order_by("username").prefetch_related("groups")
    return [AccountRow(user, [group.name for group in user.groups.all()]) for user in found[:ACCOUNTS_SHOWN]]


@dataclass(frozen=True)
class AuditRow:
    entry: AuditEntry

    @property
    def details(self) -> str:
        """`budget_s: 600; like: …`."""
        told = {
            name: ", ".join(map(str, value)) if isinstance(value, list) else value
            for name, value in self.entry.data.items()
        }
        return "; ".join(
            f"{name.replace('_', ' ')}: {value}" for name, value in told.items() if value not in (None, "")
        )


@dataclass(frozen=True)
class AuditPage:
    """A page of the log, the newest first."""

    rows: list[AuditRow]
    chosen: Mapping[str, str]
    more: int | None
    """The id before which the next page begins."""
    actions: list[str]

    @property
    def next_query(self) -> str:
        return urlencode({**self.chosen, "before": self.more})


FILTERS = ("action", "actor", "subject")


def audit_page(query: Mapping[str, str]) -> AuditPage:
    """Raises: BadQuery: a parameter is unknown or nonsense."""
    for name, value in query.items():
        if name not in (*FILTERS, "before"):
            raise BadQuery(name, f"There is no such parameter; known are {', '.join(FILTERS)}, before.")
        if len(value) > 150 or not value.isprintable():
            raise BadQuery(name, "Give at most 150 printable characters.")
    before = query.get("before", "")
    if before and not (before.isascii() and before.isdigit() and len(before) < 19):
        raise BadQuery("before", "Give the number of an entry.")
    chosen = {name: query[name] for name in FILTERS if query.get(name)}
    rows = AuditEntry.objects.select_related("actor").filter(**_wanted(chosen))
    if actor := chosen.get("actor"):
        rows = rows.filter(Q(actor_name=actor) if actor != "the platform" else Q(actor_name=""))
    if before:
        rows = rows.filter(pk__lt=int(before))
    found = list(rows.order_by("-id")[: AUDIT_PER_PAGE + 1])
    shown = found[:AUDIT_PER_PAGE]
    actions = list(AuditEntry.objects.order_by("action").values_list("action", flat=True).distinct()[:200])
    return AuditPage(
        [AuditRow(entry) for entry in shown], chosen, shown[-1].pk if len(found) > len(shown) else None, actions
    )


def _wanted(chosen: Mapping[str, str]) -> dict[str, Any]:
    return {name: chosen[name] for name in ("action", "subject") if name in chosen}
