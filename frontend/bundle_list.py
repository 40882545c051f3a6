"""Lists of bundles."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.core.paginator import Page, Paginator
from django.http import QueryDict

from bundles.models import Appeal, AppealState, Bundle, BundleState

PAGE = 50
QUEUES = {
    "waiting": "Waiting",
    "appeals": "Appeals",
    "asked": "Changes asked for",
    "published": "Published",
    "hidden": "Hidden",
    "rejected": "Rejected",
}


@dataclass(frozen=True)
class BundleList:
    page: "Page[Bundle]"
    mine: bool
    """One's own rather than what is published."""


def bundle_list_of(person: Any, query: QueryDict) -> BundleList:
    mine = isinstance(person, User) and query.get("all") != "1"
    rows = Bundle.objects.select_related("owner", "run", "version_of")
    rows = rows.filter(owner=person) if mine else rows.filter(state=BundleState.PUBLISHED)
    return BundleList(Paginator(rows, PAGE).get_page(query.get("page")), mine)


@dataclass(frozen=True)
class Queue:
    """One list of the moderators' page."""

    chosen: str
    counts: dict[str, int]
    page: "Page[Bundle]"

    @property
    def keep(self) -> str:
        return f"list={self.chosen}&"

    @property
    def tabs(self) -> list[tuple[str, str, int, bool]]:
        return [(key, label, self.counts[key], key == self.chosen) for key, label in QUEUES.items()]


def queue_of(query: QueryDict) -> Queue:
    """The oldest first: they have waited longest."""
    chosen = query.get("list", "")
    chosen = chosen if chosen in QUEUES else "waiting"
    counts = {key: _rows(key).count() for key in QUEUES}
    rows = _rows(chosen).select_related("owner", "run", "version_of").order_by("created_at", "id")
    return Queue(chosen, counts, Paginator(rows, PAGE).get_page(query.get("page")))


def _rows(key: str) -> Any:
    rows = Bundle.objects.all()
    if key == "waiting":
        return rows.filter(state=BundleState.ACCEPTED, asked="")
    if key == "asked":
        return rows.filter(state=BundleState.ACCEPTED).exclude(asked="")
    if key == "appeals":
        return rows.filter(pk__in=Appeal.objects.filter(state=AppealState.OPEN).values("bundle"))
    return rows.filter(state=key)
