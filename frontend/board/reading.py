"""Reads standings for a board: a row for each stack, task and protocol, added up in the database."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from django.db import models
from django.db.models import Case, Count, F, FloatField, Max, Min, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce

from benchmark.models import Origin
from frontend.board.filters import Filters
from frontend.board.parameters import budget_text
from frontend.board.rows import Flag, Kind, Stack
from frontend.board.sql import Among, Floats, Together
from frontend.statistics import finite
from grading.models import TaskStanding

FLAGS_MOST = 200


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

    @property
    def listing(self) -> tuple[tuple[str, str], ...]:
        """The filters that leave its runs."""
        stack = self.stack
        facts = (("task", self.task), ("agent", stack.agent), ("driver", stack.driver), ("mode", stack.mode))
        more = (("base", self.base_model), ("budget", budget_text(stack.budget_s)), ("protocol", self.protocol))
        return (*facts, *more, *(("origin", origin) for origin in sorted(self.origins)))


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
        row = rows[facts["pk"]] | facts
        part = _part(row)
        _add(found.setdefault(part.key, part), row)
    if any(row["flagged"] for row in rows.values()):
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
    values, errors = row["values"], row["errors"]
    if None in values or not isfinite(sum(values)):
        kept = [place for place, value in enumerate(values) if finite(value) is not None]
        values, errors = [values[place] for place in kept], [errors[place] for place in kept]
    part.values += values
    part.errors += errors
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
