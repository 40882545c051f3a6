"""A checked bundle becomes a run like any other, hidden until a moderator publishes it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from benchmark.models import TERMINAL, Mode, Origin, Run, RunState, Trust
from bundles.checking.report import Claim, Report
from bundles.models import Bundle
from bundles.services.claims import moment, submissions_claim
from bundles.services.import_files import code_import, record_import, traces_import
from traces.services.ingest_rows import storable

Tell = Callable[[str, int, int], bool]
UNKNOWN = "unknown"
BUDGET_MOST_S = 2**31 - 1
TOKENS_MOST = 2**63 - 1


def run_import(bundle: Bundle, report: Report, files: Path, tell: Tell) -> Run:
    """The bundle's run with its submissions, claimed scores, code and transcripts. Called again after a crash, goes on.

    Raises: OSError; DatabaseError; whatever `tell` raises where nobody wants it any more.
    """
    tell("importing scores", 0, 0)
    run = bundle.run or _run(bundle, report)
    code_import(run, report.claim, files)
    traces = traces_import(run, report.claim, files, tell)
    tell("importing the record", 0, 0)
    record_import(run, report.claim, files, traces)
    _from_transcript(run, report.claim)
    return run


def run_unimport(bundle: Bundle) -> None:
    """Forget what an import left behind that never came to its end."""
    if bundle.run is not None and bundle.run.hidden:
        bundle.run.delete()


def _run(bundle: Bundle, report: Report) -> Run:
    claim = report.claim
    with transaction.atomic():
        run = Run.objects.create(
            **_who(claim, report.layout),
            **_when(claim),
            origin=Origin.EXTERNAL,
            trust=Trust.CLAIMED if report.contradicts else Trust.CHECKED,
            hidden=True,
            source=_source(bundle, report),
            created_by=bundle.owner,
            submission_count=len(claim.submissions),
        )
        submissions_claim(run, claim)
        Bundle.objects.filter(pk=bundle.pk).update(run=run)
        bundle.run = run
    return run


def _who(claim: Claim, layout: str) -> dict[str, Any]:
    tasks = [storable(task)[:64] for task in claim.tasks]
    return {
        "agent": storable(claim.agent)[:64] or UNKNOWN,
        "agent_version": storable(claim.agent_version)[:64],
        "driver": storable(claim.driver)[:128] or UNKNOWN,
        "task": storable(claim.task)[:64] or UNKNOWN,
        "task_list": tasks if len(tasks) > 1 else [],
        "protocol": protocol_of(claim, layout),
        "base_model": storable(claim.base_model)[:256] or UNKNOWN,
        "mode": claim.mode if claim.mode in set(Mode) else Mode.FREE,
        "tokens": claim.tokens if claim.tokens is not None and 0 <= claim.tokens <= TOKENS_MOST else None,
        "versions": {"base_revision": storable(claim.base_revision)[:128]} if claim.base_revision else {},
    }


def protocol_of(claim: Claim, layout: str) -> str:
    """As stated; scores under an unstated protocol are comparable with no others than those of the same layout."""
    return storable(claim.protocol)[:120] or f"unstated/{layout or UNKNOWN}"


def _when(claim: Claim) -> dict[str, Any]:
    state = RunState(claim.outcome) if claim.outcome in {each.value for each in TERMINAL} else RunState.FINISHED
    started, ended = moment(claim.started_at), moment(claim.ended_at)
    return {
        "state": state,
        "outcome": state,
        "budget_s": min(max(int(claim.budget_s or claim.used_s or 0), 0), BUDGET_MOST_S),
        "started_at": started,
        "ended_at": ended or started or timezone.now(),
    }


def _source(bundle: Bundle, report: Report) -> dict[str, Any]:
    claim = report.claim
    return {
        "bundle": bundle.slug,
        "layout": report.layout,
        "baselines": _baselines(claim),
        "contact": storable(claim.contact)[:200],
        "licence": storable(claim.licence)[:100],
    }


def _baselines(claim: Claim) -> dict[str, float]:
    """By task; the one of `task` under the name that the run has it by."""
    found = {storable(task)[:64]: score for task, score in claim.baselines.items()}
    if claim.baseline is not None:
        found.setdefault(storable(claim.task)[:64] or UNKNOWN, claim.baseline)
    return found


def _from_transcript(run: Run, claim: Claim) -> None:
    """What the manifest does not say and the transcript does."""
    trace = run.traces.exclude(agent="").order_by("id").first()
    if trace is None:
        return
    values: dict[str, Any] = {}
    if not claim.agent:
        values |= {"agent": trace.agent[:64], "agent_version": trace.agent_version[:64]}
    if not claim.driver and trace.model:
        values["driver"] = trace.model[:128]
    if not claim.started_at and trace.first_at:
        values |= {"started_at": trace.first_at, "ended_at": trace.last_at or run.ended_at}
    if values:
        Run.objects.filter(pk=run.pk).update(**values)
