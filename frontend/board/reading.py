"""Reads standings for a board: a row for each stack, task and protocol, added up in the database."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import models
from django.db.models import Aggregate, Case, Count, F, FloatField, Max, Min, Value, When
from django.db.models.fields.json import KeyTextTransform

from benchmark.models import Origin
from frontend.board.filters import Filters
from frontend.board.rows import Flag, Kind, Stack
from frontend.statistics import finite
from grading.models import TaskStanding

FLAGS_MOST = 200


class Floats(Aggregate):
    """All values of a group as a list of floats, None among them."""

    output_field: Any = models.Field()

    def as_postgresql(self, compiler: Any, connection: Any, **extra_context: Any) -> Any:
        return self.as_sql(compiler, connection, function="array_agg", **extra_context)

    def as_sqlite(self, compiler: Any, connection: Any, **extra_context: Any) -> Any:
        return self.as_sql(compiler, connection, function="json_group_array", **extra_context)

    def convert_value(self, value: Any, expression: Any, connection: Any) -> list[float | None]:
        """SQLite answers with JSON, in which some of its versions write infinity in their own way."""
        return json.loads(value.replace("Inf", "Infinity")) if isinstance(value, str) else list(value or [])


@dataclass
class Part:
    """One stack on one task and protocol, of one base model: what the database adds up."""

    base_model: str
    digest: str
    kind: Kind
    stack: Stack
    task: str
    protocol: str
    runs: int = 0
    values: list[float] = field(default_factory=list)
    errors: list[float | None] = field(default_factory=list)
    baseline: float | None = None
    baseline_error: float | None = None
    last_run: int = 0
    slug: str = ""
    origins: set[str] = field(default_factory=set)
    trusts: set[str] = field(default_factory=set)
    flags: list[Flag] = field(default_factory=list)
    reason: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        return self.base_model, self.digest, self.kind, self.stack, self.task, self.protocol


KEY = ("base", "digest", "made", "agent", "driver", "mode", "budget", "table", "trust", "task", "protocol")


def parts_read(filters: Filters) -> list[Part]:
    """Every part the filters leave. One query, and one more when a score was flagged."""
    table = Case(
        When(run__origin=Origin.PUBLISHED, then=KeyTextTransform("table", "run__source")),
        default=Value(""),
        output_field=models.TextField(),
    )
    rows = (
        TaskStanding.objects.filter(filters.standings())
        .annotate(
            base=F("run__base_model"), digest=F("run__base_digest"), made=F("run__origin"), agent=F("run__agent"),
            driver=F("run__driver"), mode=F("run__mode"), budget=F("run__budget_s"), trust=F("run__trust"),
            table=table,
        )
        .order_by()
        .values(*KEY)
        .annotate(
            runs=Count("pk"), values=Floats("value"), errors=Floats("best_error"), last_run=Max("run_id"),
            slug=Min("run__slug"), flagged=Count(Case(When(~models.Q(flag_reason=""), then=1))),
            base_score=Max("baseline"), base_error=Max("baseline_error", output_field=FloatField()),
        )
    )  # fmt: skip
    found: dict[tuple[object, ...], Part] = {}
    flagged = False
    for row in rows:
        part = _part(row)
        flagged = flagged or bool(row["flagged"])
        _add(found.setdefault(part.key, part), row)
    if flagged:
        _add_flags(found.values(), filters)
    return list(found.values())


def _part(row: dict[str, Any]) -> Part:
    stack = Stack(row["agent"], row["driver"], row["mode"], row["budget"], row["table"] or "")
    kind: Kind = "published" if row["made"] == Origin.PUBLISHED else "here"
    return Part(row["base"], row["digest"], kind, stack, row["task"], row["protocol"])


def _add(part: Part, row: dict[str, Any]) -> None:
    """One row of the answer; rows of one part differ in origin and trust."""
    if (row["last_run"] > part.last_run and finite(row["base_score"]) is not None) or part.baseline is None:
        part.baseline, part.baseline_error = finite(row["base_score"]), finite(row["base_error"])
    part.slug = row["slug"] if part.runs == 0 and row["runs"] == 1 else ""
    part.runs += row["runs"]
    part.last_run = max(part.last_run, row["last_run"])
    for value, error in zip(row["values"], row["errors"], strict=True):
        if (score := finite(value)) is not None:
            part.values.append(score)
            part.errors.append(finite(error))
    part.origins.add(row["made"])
    part.trusts.add(row["trust"])


def _add_flags(parts: Iterable[Part], filters: Filters) -> None:
    rows = (
        TaskStanding.objects.filter(filters.standings())
        .exclude(flag_reason="")
        .select_related("run")
        .order_by("-run_id")[:FLAGS_MOST]
    )
    by_key = {part.key: part for part in parts}
    for row in rows:
        run = row.run
        kind: Kind = "published" if run.origin == Origin.PUBLISHED else "here"
        table = str(run.source.get("table", "")) if kind == "published" else ""
        stack = Stack(run.agent, run.driver, run.mode, run.budget_s, table)
        part = by_key.get((run.base_model, run.base_digest, kind, stack, row.task, row.protocol))
        if part:
            part.flags.append(Flag(run.slug, finite(row.best), finite(row.final), row.flag_reason))
