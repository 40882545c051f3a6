"""Labels as agreement and exports need them. Every read that a person sees goes through `visible_to`."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef

from benchmark.models import Run
from traces.agreement import Label, PairAgreement, TagAgreement, pair_agreements, tag_agreements
from traces.methods.failures import FailureType
from traces.models import Annotation, Labelling, LabellingQueue, Suggestion
from traces.services.annotation import exposures_record

NONE = "None of the five"
TAGS = (*[each.value for each in FailureType], NONE)
FIELDS = (
    "id", "run", "task", "agent", "driver", "author", "created_at", "failure_type", "trace", "first_seq", "last_seq",
    "critical_seq", "note", "revises", "in_force", "blind", "seen_annotations", "seen_suggestions",
)  # fmt: skip
"""Of an export, in order."""


def agreement_labels(queue: LabellingQueue | None = None) -> list[Label]:
    """Each submitted labelling as the set of its tags: what its author last said before seeing anything of others."""
    submitted = Labelling.objects.submitted().filter(run=OuterRef("run"), author=OuterRef("author"))
    rows = Annotation.objects.blind_in_force().filter(Exists(submitted))
    if queue is not None:
        rows = rows.filter(run__labelling_queues=queue)
    types: dict[tuple[int, str], set[str]] = {}
    for run, author, failure_type in rows.values_list("run", "author__username", "failure_type"):
        types.setdefault((run, author), set()).update({failure_type} - {""})
    return [Label(run, author, frozenset(found or {NONE})) for (run, author), found in sorted(types.items())]


def agreement(queue: LabellingQueue | None = None) -> tuple[list[TagAgreement], list[PairAgreement]]:
    labels = agreement_labels(queue)
    return tag_agreements(labels, TAGS), pair_agreements(labels, TAGS)


def suggestions_for(user: User, run: Run) -> list[Suggestion]:
    """The latest of each source that the user may see, and now has seen."""
    latest: dict[str, list[Suggestion]] = {}
    for each in Suggestion.objects.visible_to(user).filter(run=run):
        batch = latest.setdefault(each.source, [])
        if batch and batch[0].created_at != each.created_at:
            batch.clear()
        batch.append(each)
    shown = [each for batch in latest.values() for each in batch]
    exposures_record(user, suggestions=shown)
    return shown


def annotations_for(user: User, run: Run) -> list[Annotation]:
    """Every annotation of a run that the user may see, and now has seen, the oldest first."""
    rows = Annotation.objects.visible_to(user).filter(run=run).select_related("author", "trace").order_by("id")
    shown = list(rows.prefetch_related("revisions"))
    exposures_record(user, annotations=shown)
    return shown


def export_rows(user: User) -> Iterator[dict[str, Any]]:
    """All annotations that the user may see as plain values, the oldest first; the user counts as having seen them."""
    rows = Annotation.objects.visible_to(user).select_related("author", "trace", "run").order_by("id")
    shown = list(rows.prefetch_related("revisions"))
    exposures_record(user, annotations=shown)
    return exported(shown)


def exported(annotations: Iterable[Annotation]) -> Iterator[dict[str, Any]]:
    """`FIELDS` of each; an empty failure type is null: none of the five."""
    for each in annotations:
        values = (
            each.pk, each.run.slug, each.run.task, each.run.agent, each.run.driver, each.author.get_username(),
            each.created_at.isoformat(), each.failure_type or None, each.trace.key if each.trace else None,
            each.first_seq, each.last_seq, each.critical_seq, each.note, each.revises_id, not each.revisions.all(),
            each.is_blind, each.seen_before["annotations"], each.seen_before["suggestions"],
        )  # fmt: skip
        yield dict(zip(FIELDS, values, strict=True))


def has_submitted(user: User, run: Run) -> bool:
    """Whether the user's blind phase with this run is over."""
    return Labelling.objects.submitted().filter(run=run, author=user).exists()
