"""Everything that a paper would need to say about a run."""

from dataclasses import dataclass
from typing import Any

from benchmark.catalogue import tasks
from frontend.formats import clock, count
from frontend.run_page import RunPage
from grading.models import Verdict

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Configuration:
    """Groups of `(name, value)`; what is not known is left out."""

    groups: list[tuple[str, Pairs]]


def configuration_of(page: RunPage) -> Configuration:
    verdict = page.evaluated
    if verdict and (deferred := verdict.get_deferred_fields()):
        verdict.refresh_from_db(fields=deferred)
    groups = [
        ("Who and on what", _who(page)),
        ("Budget", _budget(page)),
        ("Protocol and grading", _grading(page, verdict)),
        ("Sampling", _told(verdict.sampling) if verdict else []),
        ("Versions behind the best score", _told(verdict.versions) if verdict else []),
        ("Versions of the run", _told(page.run.versions)),
        ("Hardware and times", _machine(page)),
    ]
    known = [(name, [pair for pair in pairs if pair[1]]) for name, pairs in groups]
    return Configuration([(name, pairs) for name, pairs in known if pairs])


def _who(page: RunPage) -> Pairs:
    run, task = page.run, tasks().get(page.task)
    return [
        ("Agent", f"{run.agent} {run.agent_version}".strip()),
        ("Driver", run.driver),
        ("Base model", run.base_model),
        ("SHA-256 of the base model", run.base_digest),
        ("Tasks" if run.task_list else "Task", ", ".join(run.tasks)),
        ("Shown task", page.task_title if run.task_list else ""),
        ("Level", task.level if task else ""),
        ("Mode", page.mode),
        ("Origin", str(run.get_origin_display())),
        ("Trust", str(run.get_trust_display()) if run.trust else ""),
        *((f"Source: {name}", str(value)) for name, value in run.source.items() if isinstance(value, str | int)),
    ]


def _budget(page: RunPage) -> Pairs:
    run = page.run
    return [
        ("Wall clock", f"{clock(run.budget_s)} for the agent alone"),
        ("Used", clock(page.used_s) if page.used_s is not None else ""),
        ("Tokens at most", count(run.token_budget) if run.token_budget else ""),
        ("Tokens used", f"{run.tokens:,}" if run.tokens is not None else ""),
        ("Cost at most, $", f"{run.cost_budget_usd:.2f}" if run.cost_budget_usd is not None else ""),
        ("Cost, $", f"{run.cost_usd:.2f}" if run.cost_usd is not None else ""),
        ("Starts again after an early end", f"{run.resumed} of at most {run.resumes}" if run.resumes else ""),
    ]


def _grading(page: RunPage, verdict: Verdict | None) -> Pairs:
    return [
        ("Protocol", page.protocol),
        ("Engine", page.evaluation.engine if page.evaluation else ""),
        ("Held-out items", str(verdict.n_expected) if verdict and verdict.n_expected else ""),
        ("Items scored", str(verdict.n_scored) if verdict and verdict.n_scored else ""),
        ("SHA-256 of the records", verdict.records_sha256 if verdict else ""),
        ("SHA-256 of the best checkpoint", page.best.submission.digest if page.best else ""),
        ("Baseline", f"{page.baseline:.2f}" if page.baseline is not None else ""),
    ]


def _machine(page: RunPage) -> Pairs:
    run = page.run
    times = (("Asked for", run.created_at), ("Started", run.started_at), ("Ended", run.ended_at))
    return [
        ("Sandbox", f"{run.sandbox}{f', {run.sandbox_note}' if run.sandbox_note else ''}" if run.sandbox else ""),
        ("Worker", run.worker),
        *((f"{measure.name}, peak", measure.peak) for measure in page.machine.measures),
        *((name, f"{at:%Y-%m-%d %H:%M:%S} UTC") for name, at in times if at is not None),
        ("Started by", run.created_by.get_username() if run.created_by else ""),
        ("Exit code", "" if run.exit_code is None else str(run.exit_code)),
    ]


def _told(values: dict[str, Any]) -> Pairs:
    return [(str(name).replace("_", " "), _plain(value)) for name, value in sorted(values.items())]


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(each)}" for name, each in value.items())
    return ", ".join(map(_plain, value)) if isinstance(value, list) else str(value)
