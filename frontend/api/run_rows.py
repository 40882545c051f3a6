"""Runs as the API tells them: which match, in which order, and their facts in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Concat

from benchmark.models import Mode, Origin, Run, RunState, Trust
from benchmark.services.protocols import protocol_is_ranked
from frontend.api.paging import Order
from frontend.api.parameters import Parameter
from grading.models import TaskStanding

EXACT = ("state", "agent", "driver", "mode", "base_model", "protocol", "origin", "trust", "fault_code")
CHOICES: Mapping[str, Sequence[str]] = {
    "state": RunState.values,
    "mode": Mode.values,
    "origin": Origin.values,
    "trust": ["", *Trust.values],
}
LEAST = {
    "score_min": "value__gte",
    "score_max": "value__lte",
    "improvement_min": "gain__gte",
    "improvement_max": "gain__lte",
    "submissions_min": "run__submission_count__gte",
    "submissions_max": "run__submission_count__lte",
    "created_from": "run__created_at__gte",
    "created_before": "run__created_at__lt",
}
ORDERS = {
    "created_at": "run__created_at",
    "started_at": "run__started_at",
    "ended_at": "run__ended_at",
    "score": "value",
    "improvement": "gain",
    "submissions": "run__submission_count",
    "tokens": "run__tokens",
    "budget_s": "run__budget_s",
}
ALWAYS = ("created_at", "submissions", "budget_s")
SEARCHED = ("run__slug", Value(" "), "run__agent", Value(" "), "run__driver", Value(" "), "run__base_model")
FIELDS = (
    "slug",
    "agent",
    "agent_version",
    "driver",
    "task",
    "protocol",
    "base_model",
    "base_digest",
    "mode",
    "budget_s",
    "origin",
    "trust",
    "source",
    "state",
    "step",
    "sandbox",
    "sandbox_note",
    "exit_code",
    "fault_code",
    "fault_detail",
    "created_at",
    "started_at",
    "deadline_at",
    "ended_at",
    "submission_count",
    "event_seq",
    "tokens",
    "token_budget",
    "cost_usd",
    "cost_budget_usd",
    "resumes",
    "resumed",
)
STANDING = {
    "task": "task",
    "protocol": "protocol",
    "baseline_score": "baseline",
    "baseline_error": "baseline_error",
    "best_score": "best",
    "best_error": "best_error",
    "best_number": "best_number",
    "best_at": "best_at",
    "best_elapsed_s": "best_elapsed_s",
    "final_score": "final",
    "flag_reason": "flag_reason",
    "score": "value",
    "submissions": "submissions",
    "scored": "scored",
}
ATOP: Mapping[str, Any] = {
    "baseline_score": None,
    "best_score": None,
    "best_error": None,
    "score": None,
    "improvement": None,
    "flag_reason": "",
}


def run_filters() -> list[Parameter]:
    """Which parameters a listing of runs takes."""
    exact = [
        Parameter(name, f"Only runs of this {name.replace('_', ' ')}.", many=True, choices=tuple(CHOICES.get(name, ())))
        for name in EXACT
    ]
    orders = tuple(sign + name for name in ORDERS for sign in ("", "-"))
    return [
        Parameter("task", "Only runs on this task, multi runs that include it as well; scores are then those on it."),
        *exact,
        Parameter("q", "Text in the run's id, agent, driver or base model, whatever its case."),
        Parameter("score_min", "The score that counts, at least.", "number"),
        Parameter("score_max", "The score that counts, at most.", "number"),
        Parameter("improvement_min", "Improvement over the baseline, at least.", "number"),
        Parameter("improvement_max", "Improvement over the baseline, at most.", "number"),
        Parameter("submissions_min", "Submissions, at least.", "integer", high=10**9),
        Parameter("submissions_max", "Submissions, at most.", "integer", high=10**9),
        Parameter("created_from", "Created then or later.", "moment"),
        Parameter("created_before", "Created earlier.", "moment"),
        Parameter("order", "`-` in front: falling. Unscored runs come last.", choices=orders, default="-created_at"),
    ]


def runs_matching(given: Mapping[str, Any], user: AbstractBaseUser | AnonymousUser) -> QuerySet[TaskStanding]:
    """Runs that the reader may see, each by its standing on the task asked for, else on its own, which every run has.

    `gain` is the improvement.
    """
    rows = TaskStanding.objects.filter(_seen(user), task=given.get("task") or F("run__task"))
    rows = rows.annotate(gain=F("value") - F("baseline"))
    for name in EXACT:
        if name in given:
            rows = rows.filter(**{f"run__{name}__in": given[name]})
    if text := given.get("q"):
        rows = rows.alias(words=Concat(*SEARCHED)).filter(words__icontains=text)
    return rows.filter(**{lookup: given[name] for name, lookup in LEAST.items() if name in given})


def _seen(user: AbstractBaseUser | AnonymousUser) -> Q:
    """As `RunQuerySet.visible_to` says, without a query inside the query for those who see nothing more."""
    return Q(run__in=Run.objects.visible_to(user)) if user.is_authenticated else Q(run__hidden=False)


def order_of(given: Mapping[str, Any]) -> Order:
    name = given["order"]
    key = name.lstrip("-")
    return Order(name, ORDERS[key], moment=key.endswith("_at"), tie="run_id", always=key in ALWAYS)


def run_facts(ids: Sequence[int], *, task: str = "") -> list[dict[str, Any]]:
    """The runs of these ids in this order, two queries; scores at the top are those on `task`, else the run's own."""
    runs = {row.pop("pk"): row for row in Run.objects.filter(pk__in=ids).values("pk", "task_list", *FIELDS)}
    standings: dict[int, list[dict[str, Any]]] = defaultdict(list)
    found = TaskStanding.objects.filter(run__in=ids).order_by("id").values("run_id", *set(STANDING.values()))
    for row in found:
        standings[row["run_id"]].append(standing_facts(row))
    return [_facts(runs[pk], standings[pk], task) for pk in ids if pk in runs]


def standing_facts(row: Mapping[str, Any]) -> dict[str, Any]:
    """One standing from its columns."""
    told = {name: row[column] for name, column in STANDING.items()}
    value, baseline = told["score"], told["baseline_score"]
    told["improvement"] = None if value is None or baseline is None else value - baseline
    return told | {"ranked": protocol_is_ranked(told["protocol"])}


def _facts(run: dict[str, Any], standings: Sequence[Mapping[str, Any]], task: str) -> dict[str, Any]:
    tasks = run.pop("task_list") or [run["task"]]
    mine = next((each for each in standings if each["task"] == (task or run["task"])), ATOP)
    return {
        **run,
        "tasks": tasks,
        **{name: mine[name] for name in ATOP},
        "ranked": protocol_is_ranked(run["protocol"]),
        "standings": standings,
    }
