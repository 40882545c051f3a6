"""Reads the paper's tables from the YAML files beside this module, once a process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from frontend.published.facts import (
    Adoption,
    AuditRule,
    Design,
    FailureType,
    MetricKind,
    PrintedGains,
    RlAudit,
    RouteRule,
    ScoreRow,
    Sensitivity,
    Setting,
    Source,
    Step,
    Tried,
    Walkthrough,
    WorkingStyle,
    WorkspaceStatistics,
)

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Scores:
    """Tables 2A, 3, 15 and 16. Every mapping's inner key is a task id; scores are points of 0..100."""

    source: Source
    tasks: tuple[str, ...]
    baselines: Mapping[str, Mapping[str, float]]
    """Each base model's own score."""
    baseline_tables: Mapping[str, str]
    rows: tuple[ScoreRow, ...]
    printed_best_observed: ScoreRow
    printed_gains: tuple[PrintedGains, ...]


@dataclass(frozen=True)
class Behaviour:
    """Tables 11, 12, 14, 17, 18, and the walkthroughs 19 and 20."""

    workspaces: tuple[WorkspaceStatistics, ...]
    sensitivity: tuple[Sensitivity, ...]
    rl_audit: tuple[RlAudit, ...]
    styles: tuple[WorkingStyle, ...]
    adoption: tuple[Adoption, ...]
    walkthroughs: tuple[Walkthrough, ...]


@dataclass(frozen=True)
class Terms:
    """Tables 6, 8, 9 and 10."""

    routes: tuple[RouteRule, ...]
    failures: tuple[FailureType, ...]
    metrics: tuple[MetricKind, ...]
    audit: tuple[AuditRule, ...]


@cache
def scores() -> Scores:
    raw = _read("scores.yaml")
    tasks = tuple(raw["tasks"])

    def by_task(values: Sequence[float]) -> dict[str, float]:
        return {task: float(value) for task, value in zip(tasks, values, strict=True)}

    def row(values: Mapping[str, Any]) -> ScoreRow:
        return ScoreRow(**{**values, "scores": by_task(values["scores"])})

    printed = raw["printed"]
    return Scores(
        source=Source(**{**raw["source"], "authors": tuple(raw["source"]["authors"])}),
        tasks=tasks,
        baselines={name: by_task(values) for name, values in raw["baselines"].items()},
        baseline_tables=raw["baseline_tables"],
        rows=tuple(map(row, raw["rows"])),
        printed_best_observed=row({**printed["best_observed"], "mode": "best-observed"}),
        printed_gains=tuple(PrintedGains(**{**one, "gains": by_task(one["gains"])}) for one in printed["deltas"]),
    )


@cache
def designs() -> Mapping[str, Design]:
    """Tables 1, 4 and 5 and figure 4 by task id."""
    return {one["task"]: Design(**one) for one in _read("design.yaml")}


@cache
def behaviour() -> Behaviour:
    raw = _read("behaviour.yaml")
    return Behaviour(
        workspaces=tuple(
            WorkspaceStatistics(**{**one, "strategies": tuple(one["strategies"])}) for one in raw["workspaces"]
        ),
        sensitivity=tuple(_sensitivity(one) for one in raw["sensitivity"]),
        rl_audit=tuple(
            RlAudit(**{**one, "tried": tuple(Tried(**tried) for tried in one["tried"])}) for one in raw["rl_audit"]
        ),
        styles=tuple(WorkingStyle(**one) for one in raw["styles"]),
        adoption=tuple(Adoption(**one) for one in raw["adoption"]),
        walkthroughs=tuple(
            Walkthrough(**{**one, "steps": tuple(Step(**step) for step in one["steps"])}) for one in raw["walkthroughs"]
        ),
    )


@cache
def terms() -> Terms:
    raw = _read("terms.yaml")
    return Terms(
        routes=tuple(RouteRule(**one) for one in raw["routes"]),
        failures=tuple(
            FailureType(**{**one, "tasks": tuple(one["tasks"]), "evidence": tuple(one["evidence"])})
            for one in raw["failures"]
        ),
        metrics=tuple(MetricKind(**{**one, "metrics": tuple(one["metrics"])}) for one in raw["metrics"]),
        audit=tuple(AuditRule(**one) for one in raw["audit"]),
    )


def _sensitivity(one: Mapping[str, Any]) -> Sensitivity:
    settings = {
        name: Setting(str(one[name]["value"]), tuple(map(float, one[name]["scores"])))
        for name in ("under", "best", "over")
    }
    return Sensitivity(parameter=one["parameter"], **settings)


def _read(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
