"""Runs with their best submission and baseline, in a fixed number of queries."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from benchmark.models import Origin, Run
from grading.models import Baseline, Submission


@dataclass(frozen=True)
class Result:
    """One run: its best submission, and what the base model itself scores."""

    run: Run
    best: Submission | None
    baseline: float | None
    baseline_error: float | None
    last_state: str
    """Of its newest submission; empty when there is none."""

    @property
    def score(self) -> float | None:
        return self.best.score if self.best else None

    @property
    def standard_error(self) -> float | None:
        return self.best.verdict.standard_error if self.best and self.best.verdict else None

    @property
    def improvement(self) -> float | None:
        return None if self.score is None or self.baseline is None else self.score - self.baseline

    @property
    def reached(self) -> datetime | None:
        """When the best submission arrived."""
        return self.best.received_at if self.best else None


def results(runs: QuerySet[Run] | None = None) -> Iterator[Result]:
    """Every local run, the oldest first; or those of a queryset, in its order. Three queries."""
    runs = Run.objects.filter(origin=Origin.LOCAL).order_by("id") if runs is None else runs
    best = Submission.objects.filter(run=OuterRef("pk")).scored().order_by("-verdict__score", "number")
    last = Submission.objects.filter(run=OuterRef("pk")).order_by("-number").values("state")[:1]
    rows: Any = list(runs.annotate(best_id=Subquery(best.values("pk")[:1]), last_state=Subquery(last)))
    submissions = Submission.objects.select_related("verdict").in_bulk([row.best_id for row in rows if row.best_id])
    baselines = Baseline.objects.select_related("evaluation__verdict").in_bulk([row.pk for row in rows])
    for row in rows:
        baseline = baselines.get(row.pk)
        verdict = baseline.evaluation.verdict if baseline else None
        yield Result(
            run=row,
            best=submissions.get(row.best_id),
            baseline=verdict.score if verdict else None,
            baseline_error=verdict.standard_error if verdict and verdict.score is not None else None,
            last_state=row.last_state or "",
        )
