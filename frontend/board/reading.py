"""Reads standings for a board: a row for each stack, task and protocol, added up in the database."""

from dataclasses import replace
from math import isfinite
from typing import Any

from django.db import models
from django.db.models import Case, Count, F, FloatField, Max, Min, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce

from benchmark.models import Origin
from frontend.board.filters import Filters
from frontend.board.parts import Flag, Kind, Part, Stack, joined
from frontend.board.sql import Among, Floats, Together
from frontend.statistics import finite
from grading.models import TaskStanding

FLAGS_MOST = 200


KEYS = {
    "base": "run__base_model",
    "digest": "run__base_digest",
    "made": "run__origin",
    "agent": "run__agent",
    "driver": "run__driver",
    "mode": "run__mode",
    "budget": "run__budget_s",
    "trust": "run__trust",
}
TABLE = Case(
    When(run__origin=Origin.PUBLISHED, then=Coalesce(KeyTextTransform("table", "run__source"), Value(""))),
    default=Value(""),
    output_field=models.TextField(),
)


def parts_read(filters: Filters) -> list[Part]:
    """Every part the filters leave. Two queries, and one more when a score was flagged.

    The first adds up by a short key; the second says what each key stands for, by one of its rows.
    """
    sums = (
        TaskStanding.objects.filter(filters.standings())
        .annotate(key=Together(*KEYS.values(), TABLE, "task", "protocol"))
        .order_by()
        .values("key")
        .annotate(
            first=Min("pk"), runs=Count("pk"), values=Floats("value"), errors=Floats("best_error"),
            last_run=Max("run_id"), flagged=Count(Case(When(~models.Q(flag_reason=""), then=1))),
            base_score=Max("baseline"), base_error=Max("baseline_error", output_field=FloatField()),
        )
    )  # fmt: skip
    rows = {row["first"]: row for row in sums}
    named = TaskStanding.objects.annotate(
        table=TABLE, slug=F("run__slug"), **{name: F(at) for name, at in KEYS.items()}
    )
    found: dict[tuple[object, ...], Part] = {}
    for facts in (
        named.filter(Among(F("pk"), list(rows))).order_by().values("pk", "task", "protocol", "table", "slug", *KEYS)
    ):
        part = _part(rows[facts["pk"]] | facts)
        known = found.get(part.key)
        found[part.key] = joined(known, part) if known else part
    if any(row["flagged"] for row in rows.values()):
        _add_flags(found, filters)
    return list(found.values())


def _part(row: dict[str, Any]) -> Part:
    """One row of the answer; rows of one part differ in origin and trust."""
    values, errors = row["values"], row["errors"]
    if None in values or not isfinite(sum(values)):
        kept = [place for place, value in enumerate(values) if finite(value) is not None]
        values, errors = [values[place] for place in kept], [errors[place] for place in kept]
    return Part(
        base_model=row["base"],
        digest=row["digest"],
        kind=_kind(row["made"]),
        stack=Stack(row["agent"], row["driver"], row["mode"], row["budget"], row["table"] or ""),
        task=row["task"],
        protocol=row["protocol"],
        runs=row["runs"],
        values=tuple(values),
        errors=tuple(errors),
        baseline=finite(row["base_score"]),
        baseline_error=finite(row["base_error"]),
        last_run=row["last_run"],
        slug=row["slug"] if row["runs"] == 1 else "",
        origins=frozenset([row["made"]]),
        trusts=frozenset([row["trust"]]),
    )


def _kind(origin: str) -> Kind:
    return "published" if origin == Origin.PUBLISHED else "here"


def _add_flags(parts: dict[tuple[object, ...], Part], filters: Filters) -> None:
    rows = (
        TaskStanding.objects.filter(filters.standings())
        .exclude(flag_reason="")
        .select_related("run")
        .order_by("-run_id")[:FLAGS_MOST]
    )
    for row in rows:
        run, kind = row.run, _kind(row.run.origin)
        table = str(run.source.get("table", "")) if kind == "published" else ""
        stack = Stack(run.agent, run.driver, run.mode, run.budget_s, table)
        key = (run.base_model, run.base_digest, kind, stack, row.task, row.protocol)
        if part := parts.get(key):
            flag = Flag(run.slug, finite(row.best), finite(row.final), row.flag_reason)
            parts[key] = replace(part, flags=(*part.flags, flag))
