"""Method labels: what the rules say of a submission's code, and what people say instead."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from benchmark.artifacts.contract import Damaged
from benchmark.models import Run
from benchmark.ports import grading_room
from benchmark.services.audit import audit_record
from benchmark.services.base_models import base_model_name
from traces.methods.routes import RouteLabel, run_route
from traces.methods.words import Method
from traces.models import CodeSnapshot, LabelSource, MethodLabel
from traces.services.ingest_rows import storable, storable_json
from traces.services.label_process import LabellerFailed, label_apart
from traces.services.labels_commands import commands_before
from traces.services.snapshots_store import blob_local, code_store

log = logging.getLogger(__name__)
FINDINGS_MOST, NOTES_MOST = 50, 50


def label_next() -> bool:
    """Judge the oldest code that no rule has judged; False when there is none."""
    snapshot = CodeSnapshot.objects.unlabelled().filter(run__place=settings.PLACE).select_related("run").first()
    if snapshot is None:
        return False
    # Without files there is nothing that commands could run, and looking for them costs the most.
    label_make(snapshot, commands=commands_before(snapshot) if snapshot.files else ())
    return True


def label_make(snapshot: CodeSnapshot, *, commands: Iterable[str]) -> MethodLabel:
    """Judge one submission's code and store what came of it. Code that cannot be judged gets a label that says so."""
    given = list(commands)
    try:
        for entry in snapshot.files.values():
            blob_local(entry[0])
        report = (
            {}
            if not snapshot.files
            else label_apart(
                files={path: entry[0] for path, entry in snapshot.files.items()},
                store=code_store(),
                commands=given,
                model_path=snapshot.model_path,
                base_model_path=f"models/{base_model_name(snapshot.run.base_model)}",
            )
        )
    except (LabellerFailed, Damaged) as error:
        log.warning("%s: %s", snapshot, error)
        report = {"notes": [{"file": "", "line": None, "why": str(error)}]}
    values = {"commands": len(given), **_stored(report)}
    before = last_of_rules(snapshot)
    if before is not None and all(getattr(before, name) == value for name, value in values.items()):
        return before  # two workers judged at once
    return MethodLabel.objects.create(
        run_id=snapshot.run_id, number=snapshot.number, source=LabelSource.RULES, **values
    )


def last_of_rules(snapshot: CodeSnapshot) -> MethodLabel | None:
    rules = MethodLabel.objects.filter(run=snapshot.run_id, number=snapshot.number, source=LabelSource.RULES)
    return rules.order_by("id").last()


def _stored(report: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: report[name] for name in ("methods", "confidence", "trains_unknown") if name in report}
    values |= {name: report[name] for name in ("files_read", "files_seen") if name in report}
    values["findings"] = [_plain(finding) for finding in report.get("findings", [])[:FINDINGS_MOST]]
    values["notes"] = [_plain(note) for note in report.get("notes", [])[:NOTES_MOST]]
    return values


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: storable_json(value) for name, value in entry.items()}
    return {name: value[:500] if isinstance(value, str) else value for name, value in plain.items()}


def labels_again(run: Run) -> int:
    """Judge a run's submissions once more with its whole transcript; how many labels changed."""
    changed = 0
    for snapshot in CodeSnapshot.objects.filter(run=run).select_related("run"):
        before = last_of_rules(snapshot)
        commands = commands_before(snapshot)
        if before is None or len(commands) > before.commands:
            after = label_make(snapshot, commands=commands)
            changed += before is None or after.methods != before.methods
    return changed


def label_correct(*, run: Run, number: int, methods: Iterable[str], author: User, reason: str) -> MethodLabel:
    """A person's label takes the place of the rules', and of an earlier person's; both stay in the record.

    Raises: ValidationError: what is missing or unknown.
    """
    given = [method for method in methods if method != Method.NONE]
    problems: dict[str, str] = {}
    if unknown := [method for method in given if method not in set(Method)]:
        problems["methods"] = f"Unknown: {', '.join(unknown)}. Known are {', '.join(Method)}."
    if len(set(given)) < len(given):
        problems["methods"] = "Name each method once, in the order in which they were applied."
    if not reason.strip():
        problems["reason"] = "Say why: what in the code, the transcript or the checkpoint shows it."
    if not grading_room().has_submission(run.pk, number):
        problems["number"] = "The run has no such submission."
    if problems:
        raise ValidationError(problems)
    with transaction.atomic():
        label = MethodLabel.objects.create(
            run=run,
            number=number,
            source=LabelSource.PERSON,
            methods=[Method(method).value for method in given],
            author=author,
            author_name=author.get_username(),
            reason=storable(reason.strip()),
        )
        audit_record(actor=author, action="label.correct", subject=run, number=number, label=label.pk)
    return label


def labels_in_force(run: Run) -> dict[int, MethodLabel]:
    """By submission: the last person's label where there is one, else the last of the rules'."""
    return _in_force(MethodLabel.objects.filter(run=run).order_by("id"))


@dataclass(frozen=True, slots=True)
class LabelInForce:
    """What counts of a label where many runs are read at once."""

    number: int
    source: str
    words: tuple[Method, ...]
    trains_unknown: bool = False


class Labelled(Protocol):
    """A label, whole or short."""

    @property
    def source(self) -> str: ...
    @property
    def words(self) -> tuple[Method, ...]: ...
    @property
    def trains_unknown(self) -> bool: ...


def labels_in_force_of(run_ids: Iterable[int]) -> dict[int, dict[int, LabelInForce]]:
    """By run and submission, in one query, without what rules found and people wrote."""
    rows = MethodLabel.objects.filter(run__in=list(run_ids)).order_by("id")
    by_run: dict[int, list[LabelInForce]] = defaultdict(list)
    fields = ("run_id", "number", "source", "methods", "trains_unknown")
    for run_id, number, source, methods, unknown in rows.values_list(*fields).iterator(chunk_size=5000):
        by_run[run_id].append(LabelInForce(number, source, _words(tuple(methods)), unknown))
    return {run_id: _in_force(labels) for run_id, labels in by_run.items()}


@lru_cache(maxsize=1024)
def _words(methods: tuple[str, ...]) -> tuple[Method, ...]:
    return tuple(Method(method) for method in methods)


Some = TypeVar("Some", MethodLabel, LabelInForce)


def _in_force(labels: Iterable[Some]) -> dict[int, Some]:
    found: dict[int, Some] = {}
    for label in labels:
        known = found.get(label.number)
        if known is None or label.source == LabelSource.PERSON or known.source == LabelSource.RULES:
            found[label.number] = label
    return found


def route_of(labels: Mapping[int, Labelled]) -> RouteLabel | None:
    """The run's route from the labels in force; None while there are none."""
    if not labels:
        return None
    ordered = [labels[number] for number in sorted(labels)]
    unknown = any(label.trains_unknown for label in ordered if label.source == LabelSource.RULES)
    return run_route([label.words for label in ordered], trains_unknown=unknown)
