"""Runs for transcripts that were made elsewhere."""

from django.db.models import Max, Min
from django.utils import timezone

from benchmark.models import Mode, Origin, Run, RunState
from traces.models import Trace


def run_for_transcript(*, run: Run | None = None, task: str = "", base_model: str = "") -> Run:
    """A finished run of origin external; given that run again, takes agent, driver and times from its traces."""
    if run is None:
        return Run.objects.create(
            agent="unknown",
            driver="unknown",
            task=task,
            base_model=base_model,
            mode=Mode.FREE,
            budget_s=0,
            origin=Origin.EXTERNAL,
            state=RunState.FINISHED,
            outcome=RunState.FINISHED,
            ended_at=timezone.now(),
        )
    traces = Trace.objects.filter(run=run)
    first = traces.exclude(agent="").first()
    span = traces.aggregate(start=Min("first_at"), end=Max("last_at"))
    if first is not None:
        run.agent, run.agent_version = _printable(first.agent)[:64], _printable(first.agent_version)[:64]
        run.driver = _printable(first.model)[:128] or "unknown"
    run.started_at = span["start"]
    run.ended_at = span["end"] or run.ended_at
    run.save(update_fields=["agent", "agent_version", "driver", "started_at", "ended_at"])
    return run


def _printable(text: str) -> str:
    """Without what hides or reorders: lists and boards show a run's names beside those of others."""
    return "".join(filter(str.isprintable, text))
