"""Labelling a run: statements, their submission, decisions between them, and the record of who saw what."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from benchmark.models import Run
from benchmark.services.audit import audit_record
from traces.methods.failures import FailureType
from traces.models import Adjudication, Annotation, Exposure, Labelling, Suggestion, Trace
from traces.models.annotation import NOTE_MOST
from traces.services.ingest_rows import storable


def annotation_create(
    *,
    author: User,
    run: Run,
    failure_type: str = "",
    note: str = "",
    trace: Trace | None = None,
    first_seq: int | None = None,
    last_seq: int | None = None,
    critical_seq: int | None = None,
    revises: Annotation | None = None,
) -> Annotation:
    """Store a statement; before its author has submitted the run it belongs to the blind labelling.

    Raises: ValidationError: what is missing, unknown or out of place, by field.
    """
    first_seq, last_seq = first_seq or last_seq, last_seq or first_seq
    problems = _run_problems(run) | _type_problems([failure_type] if failure_type else []) | _note_problems(note)
    problems |= _place_problems(run, trace, first_seq, last_seq, critical_seq) | _revision_problems(
        author, run, revises
    )
    if problems:
        raise ValidationError(problems)
    try:
        with transaction.atomic():
            Labelling.objects.get_or_create(run=run, author=author)
            seen = seen_of(author, run)
            made = Annotation.objects.create(
                run=run,
                author=author,
                trace=trace,
                first_seq=first_seq,
                last_seq=last_seq,
                failure_type=failure_type,
                critical_seq=critical_seq,
                note=storable(note.strip()),
                revises=revises,
                is_blind=not any(seen.values()),
                seen_before=seen,
            )
            audit_record(actor=author, action="annotation.create", subject=run, annotation=made.pk)
            return made
    except IntegrityError:
        raise ValidationError({"revises": "This label has been revised already. Revise its revision."}) from None


def labels_submit(*, author: User, run: Run) -> bool:
    """End the blind phase of one's labelling; False when it has ended before.

    Raises: ValidationError: there is no label to submit.
    """
    if not Annotation.objects.filter(run=run, author=author).exists():
        raise ValidationError({"run": "Give at least one label first; “none of the five” is one."})
    mine = Labelling.objects.open().filter(run=run, author=author)
    with transaction.atomic():
        done = mine.update(submitted_at=timezone.now()) == 1
        if done:
            audit_record(actor=author, action="annotation.submit", subject=run)
    return done


def adjudication_create(
    *, author: User, run: Run, failure_types: Sequence[str], note: str, critical_seq: int | None = None
) -> Adjudication:
    """Decide between a run's submitted labels, after one's own. No label changes.

    Raises: ValidationError.
    """
    visible = Annotation.objects.visible_to(author).filter(run=run)
    problems = (
        _type_problems(failure_types) | _note_problems(note) | _place_problems(run, None, None, None, critical_seq)
    )
    if not note.strip():
        problems["note"] = "Say why."
    if not Labelling.objects.submitted().filter(run=run, author=author).exists():
        problems["run"] = "Submit labels of your own first: until then the others' are hidden from you."
    elif not visible.exclude(author=author).exists():
        problems["run"] = "Nobody else has submitted labels of this run: there is nothing to decide between."
    if problems:
        raise ValidationError(problems)
    with transaction.atomic():
        made = Adjudication.objects.create(
            run=run,
            author=author,
            failure_types=[each.value for each in FailureType if each in set(failure_types)],
            critical_seq=critical_seq,
            note=storable(note.strip()),
            annotations=list(visible.in_force().order_by("id").values_list("id", flat=True)),
        )
        audit_record(actor=author, action="annotation.adjudicate", subject=run, adjudication=made.pk)
    return made


def seen_of(author: User, run: Run) -> dict[str, Any]:
    """Ids of the others' annotations and of the suggestions of a run that somebody has been shown."""
    shown = list(
        Exposure.objects.filter(reader=author, run=run).order_by("id").values_list("annotation_id", "suggestion_id")
    )
    return {
        "annotations": [annotation for annotation, _ in shown if annotation is not None],
        "suggestions": [suggestion for _, suggestion in shown if suggestion is not None],
    }


def exposures_record(
    reader: User, *, annotations: Iterable[Annotation] = (), suggestions: Iterable[Suggestion] = ()
) -> None:
    """Call it before showing them. One's own annotations are no exposure."""
    rows = [
        Exposure(reader=reader, run_id=each.run_id, annotation=each)
        for each in annotations
        if each.author_id != reader.pk
    ]
    rows += [Exposure(reader=reader, run_id=each.run_id, suggestion=each) for each in suggestions]
    Exposure.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)


def _run_problems(run: Run) -> dict[str, str]:
    return {} if run.terminal else {"run": "The run has not ended. Label it when it has."}


def _type_problems(given: Iterable[str]) -> dict[str, str]:
    unknown = [each for each in given if each not in set(FailureType)]
    if not unknown:
        return {}
    return {"failure_type": f"Unknown: {', '.join(unknown)}. Known are {'; '.join(FailureType)}; empty for none."}


def _note_problems(note: str) -> dict[str, str]:
    return {"note": f"At most {NOTE_MOST} characters."} if len(note) > NOTE_MOST else {}


def _place_problems(
    run: Run, trace: Trace | None, first: int | None, last: int | None, critical: int | None
) -> dict[str, str]:
    if trace is not None and trace.run_id != run.pk:
        return {"trace": "This transcript belongs to another run."}
    known = [trace] if trace is not None else list(Trace.objects.filter(run=run))
    events = max((each.event_count for each in known), default=0)
    problems: dict[str, str] = {}
    if first is not None and last is not None and last < first:
        problems["last_seq"] = "The span ends before it begins."
    places = {"first_seq": first, "last_seq": last if last != first else None, "critical_seq": critical}
    for name, seq in places.items():
        if seq is not None and not 1 <= seq <= events:
            told = f"The transcript has events 1 to {events}." if events else "The run has no transcript."
            problems.setdefault(name, told)
    if len(known) > 1 and first is not None:
        problems["trace"] = "The run has several transcripts: name the one that the span is in."
    return problems


def _revision_problems(author: User, run: Run, revises: Annotation | None) -> dict[str, str]:
    if revises is not None and (revises.author_id != author.pk or revises.run_id != run.pk):
        return {"revises": "Only a label of your own on this run can be revised."}
    return {}
