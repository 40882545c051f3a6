"""Queues of runs to label: making one, taking the next run, giving one back."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from benchmark.models import Run
from benchmark.services.audit import audit_record
from traces.models import Annotation, Labelling, LabellingQueue, QueuedRun

RUNS_MOST = 1000
ANNOTATORS_MOST = 20


def queue_create(*, name: str, slugs: Sequence[str], annotators: int, created_by: User) -> LabellingQueue:
    """A queue of ended runs in the order given; a run named twice counts once.

    Raises: ValidationError, by field.
    """
    wanted = list(dict.fromkeys(slugs))
    known = {run.slug: run for run in Run.objects.filter(slug__in=wanted[:RUNS_MOST])}
    problems: dict[str, str] = {}
    if not name.strip() or len(name.strip()) > 120:
        problems["name"] = "Give a name of at most 120 characters."
    elif LabellingQueue.objects.filter(name=name.strip()).exists():
        problems["name"] = "There is a queue of this name."
    if not 1 <= annotators <= ANNOTATORS_MOST:
        problems["annotators"] = f"Between 1 and {ANNOTATORS_MOST}; agreement needs at least 2."
    if not wanted or len(wanted) > RUNS_MOST:
        problems["runs"] = f"Name 1 to {RUNS_MOST} runs by their ids."
    elif missing := [slug for slug in wanted if slug not in known]:
        problems["runs"] = f"No such run: {', '.join(missing[:5])}."
    elif going := [slug for slug in wanted if not known[slug].terminal]:
        problems["runs"] = f"Not ended yet: {', '.join(going[:5])}."
    if problems:
        raise ValidationError(problems)
    with transaction.atomic():
        queue = LabellingQueue.objects.create(name=name.strip(), annotators=annotators, created_by=created_by)
        QueuedRun.objects.bulk_create(
            QueuedRun(queue=queue, run=known[slug], position=place) for place, slug in enumerate(wanted, start=1)
        )
        audit_record(actor=created_by, action="annotation_queue.create", subject=queue, name=queue.name)
    return queue


def run_claim(*, queue: LabellingQueue, author: User) -> Labelling | None:
    """One's open run of the queue, else the next that still wants a person; None: there is nothing left to label."""
    with transaction.atomic():
        LabellingQueue.objects.select_for_update().get(pk=queue.pk)
        mine = Labelling.objects.filter(run__labelling_queues=queue, author=author)
        open_one = mine.open().order_by("id").first()
        if open_one is not None:
            Labelling.objects.filter(pk=open_one.pk).update(claimed_at=timezone.now())
            return open_one
        place = wanting(queue, author).order_by("position").first()
        return None if place is None else Labelling.objects.create(run_id=place.run_id, author=author)


def wanting(queue: LabellingQueue, author: User) -> QuerySet[QueuedRun]:
    """Places of runs that the author has not taken and that too few others have."""
    mine = Labelling.objects.filter(run=OuterRef("run"), author=author)
    taken = _people(Labelling.objects.counted())
    return QueuedRun.objects.filter(~Exists(mine), queue=queue).annotate(taken=taken).filter(taken__lt=queue.annotators)


def _people(labellings: QuerySet[Labelling]) -> Coalesce:
    """How many of them are of a place's run."""
    of_run = labellings.filter(run=OuterRef("run")).order_by().values("run")
    return Coalesce(Subquery(of_run.annotate(n=Count("pk")).values("n")), 0)


def claim_release(*, run: Run, author: User) -> bool:
    """Give a run back on which nothing was labelled; False when it was submitted, labelled or never taken."""
    labelled = Annotation.objects.filter(run=OuterRef("run"), author=author)
    count, _ = Labelling.objects.open().filter(~Exists(labelled), run=run, author=author).delete()
    return count == 1


@dataclass(frozen=True)
class QueueProgress:
    """How far a queue is, for all and for one person."""

    queue: LabellingQueue
    runs: int
    complete: int
    """Runs that as many people have submitted as the queue wants."""
    mine: int
    """Runs that the person has submitted."""
    left: int
    """Runs that the person may still take."""
    open_run: Run | None
    """Taken by the person and not submitted."""


def queues_progress(author: User) -> list[QueueProgress]:
    """Every queue, the newest first, in four queries."""
    own = Labelling.objects.filter(run=OuterRef("run"), author=author)
    places = QueuedRun.objects.order_by().annotate(
        done=_people(Labelling.objects.submitted()),
        taken=_people(Labelling.objects.counted()),
        own=Exists(own),
        submitted=Exists(own.submitted()),
        wanted=F("queue__annotators"),
    )
    counts = places.values("queue").annotate(
        runs=Count("pk"),
        complete=Count("pk", filter=Q(done__gte=F("wanted"))),
        mine=Count("pk", filter=Q(submitted=True)),
        left=Count("pk", filter=Q(own=False, taken__lt=F("wanted"))),
    )
    told = {row[0]: row[1:] for row in counts.values_list("queue", "runs", "complete", "mine", "left")}
    opened = _open_runs(author)
    return [
        QueueProgress(queue, *told.get(queue.pk, (0, 0, 0, 0)), opened.get(queue.pk))
        for queue in LabellingQueue.objects.order_by("-id")
    ]


def _open_runs(author: User) -> dict[int, Run]:
    """By queue, the first run that the person has taken and not submitted."""
    mine = {each.run_id: each for each in Labelling.objects.open().filter(author=author).select_related("run")}
    found: dict[int, Run] = {}
    places = QueuedRun.objects.filter(run__in=mine).values_list("run_id", "queue_id")
    for run_id, queue_id in sorted(places, key=lambda place: mine[place[0]].pk):
        found.setdefault(queue_id, mine[run_id].run)
    return found


def is_awaited(run: Run) -> bool:
    """Whether somebody is still to label the run blind: it was taken lately, or a queue wants more people for it."""
    if Labelling.objects.open().counted().filter(run=run).exists():
        return True
    submitted = Labelling.objects.submitted().filter(run=run).count()
    return LabellingQueue.objects.filter(runs=run, annotators__gt=submitted).exists()
