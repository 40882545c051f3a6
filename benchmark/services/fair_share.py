"""Whose queued run comes next: who holds the fewest comes first, so that one busy person does not starve others."""

from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from benchmark.models import HELD, Run, RunState


def runs_by_turn(most: int = 20) -> QuerySet[Run]:
    """Queued runs in the order of their turn: by how many their owner has running, then by age.

    Runs without an owner, as commands start them, are one owner's together.
    """
    owned = Run.objects.annotate(owner=Coalesce("created_by", 0)).order_by()
    held = owned.filter(state__in=HELD, owner=OuterRef("owner"))
    count = held.values("owner").annotate(count=Count("pk")).values("count")
    queued = owned.filter(state=RunState.QUEUED).annotate(held_by_owner=Coalesce(Subquery(count), 0))
    return queued.order_by(F("held_by_owner").asc(), "created_at", "id")[:most]
