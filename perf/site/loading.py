"""Bulk loading into PostgreSQL: rows go in by COPY, indexes and counters are right afterwards."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

from django.db import connection, models

from benchmark.models import Run, RunEvent
from grading.models import Baseline, Evaluation, Submission, TaskStanding, Verdict
from perf.site.made_up import BASES, BUDGET_S, PROTOCOLS, Story, baseline_of, stories
from traces.models import MethodLabel

CHUNK = 500
"""Runs a round: what is held in memory at once."""


def load(runs: int, submissions: int) -> dict[str, int]:
    """Fill an empty, migrated database; how many rows of what."""
    if Run.objects.exists():
        raise SystemExit("This database holds runs already: name an empty one.")
    evaluations = {key: _baseline_evaluation(*key) for key in ((task, base) for task in PROTOCOLS for base in BASES)}
    counts = {"runs": 0, "submissions": 0}
    held: list[Story] = []
    for story in stories(runs, submissions):
        held.append(story)
        if len(held) == CHUNK:
            _flush(held, evaluations, counts)
    _flush(held, evaluations, counts)
    with connection.cursor() as cursor:
        for model in (Run, Submission, Verdict, TaskStanding, RunEvent, MethodLabel, Baseline):
            table = model._meta.db_table
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT MAX(id) FROM {table}))")
        cursor.execute("VACUUM ANALYZE")
    return counts


def _baseline_evaluation(task: str, base: str) -> int:
    verdict = Verdict.objects.create(
        protocol=PROTOCOLS[task],
        score=baseline_of(task, base),
        metrics={"standard_error": 1.2},
        n_expected=1,
        n_scored=1,
    )
    evaluation = Evaluation.objects.create(
        task=task,
        protocol=PROTOCOLS[task],
        engine="vllm/cuda/bfloat16",
        digest=BASES[base],
        base_model=base,
        base_digest=BASES[base],
        state="done",
        verdict=verdict,
    )
    return evaluation.pk


def _flush(held: list[Story], evaluations: dict[tuple[str, str], int], counts: dict[str, int]) -> None:
    if not held:
        return
    first_run = counts["runs"] + 1
    first_submission = counts["submissions"] + 1
    runs = list(enumerate(held, start=first_run))
    _copy(Run, (_run(pk, story) for pk, story in runs))
    offers = [(run, story, offer) for run, story in runs for offer in story.offers]
    numbered = list(enumerate(offers, start=first_submission))
    shift = len(evaluations)
    _copy(Verdict, (_verdict(shift + pk, story, offer) for pk, (_, story, offer) in numbered))
    _copy(Submission, (_submission(pk, shift + pk, run, story, offer) for pk, (run, story, offer) in numbered))
    _copy(MethodLabel, (_label(pk, run, story, offer) for pk, (run, story, offer) in numbered))
    best_of = {(run, offer.number): pk for pk, (run, _, offer) in numbered}
    _copy(TaskStanding, (_standing(pk, story, best_of) for pk, story in runs))
    _copy(RunEvent, (event for pk, story in runs for event in _events(pk, story)))
    _copy(Baseline, (_baseline(pk, story, evaluations) for pk, story in runs))
    counts["runs"] += len(runs)
    counts["submissions"] += len(offers)
    held.clear()


def _copy(model: type[models.Model], rows: Iterable[dict[str, Any]]) -> None:
    """Write rows of field names and values; what a row does not name has the field's default."""
    fields = [field for field in model._meta.concrete_fields if not field.generated]
    names = ", ".join(f'"{field.column}"' for field in fields)
    with connection.cursor() as cursor:
        connection.ensure_connection()
        with (
            cursor.connection.cursor() as raw,
            raw.copy(f'COPY "{model._meta.db_table}" ({names}) FROM STDIN') as copy,
        ):
            for row in rows:
                copy.write_row(list(_values(fields, row)))


def _values(fields: Sequence[Any], row: dict[str, Any]) -> Iterator[Any]:
    for field in fields:
        value = row.get(field.name, None if field.null else field.get_default())
        yield json.dumps(value) if isinstance(field, models.JSONField) else value


def _run(pk: int, story: Story) -> dict[str, Any]:
    end = story.began + timedelta(seconds=BUDGET_S)
    return {
        "id": pk,
        "slug": story.slug,
        "agent": story.agent,
        "agent_version": "1.0.0",
        "driver": story.driver,
        "task": story.task,
        "protocol": PROTOCOLS[story.task],
        "base_model": story.base,
        "base_digest": BASES[story.base],
        "mode": story.mode,
        "budget_s": BUDGET_S,
        "state": "finished",
        "outcome": "finished",
        "sandbox": "docker",
        "exit_code": 0,
        "created_at": story.began,
        "started_at": story.began,
        "deadline_at": end,
        "ended_at": end,
        "submission_count": len(story.offers),
        "event_seq": len(story.offers) + 3,
        "tokens": 50_000 * len(story.offers),
    }


def _verdict(pk: int, story: Story, offer: Any) -> dict[str, Any]:
    scored = offer.score is not None
    return {
        "id": pk,
        "protocol": PROTOCOLS[story.task],
        "digest": f"{pk:064x}",
        "score": offer.score,
        "code": "" if scored else "E_NO_WEIGHTS",
        "message": "" if scored else "There are no weights in the folder.",
        "metrics": {"standard_error": 1.2} if scored else {},
        "n_expected": 100,
        "n_scored": 100 if scored else 0,
        "created_at": story.began + timedelta(seconds=offer.elapsed_s + 60),
    }


def _submission(pk: int, verdict: int, run: int, story: Story, offer: Any) -> dict[str, Any]:
    received = story.began + timedelta(seconds=offer.elapsed_s)
    return {
        "id": pk,
        "run": run,
        "task": story.task,
        "number": offer.number,
        "model_path": f"output/v{offer.number}",
        "key": f"{pk:x}",
        "state": "rejected" if offer.score is None else "graded",
        "received_at": received,
        "elapsed_s": offer.elapsed_s,
        "tokens": 50_000 * offer.number,
        "digest": f"{verdict:064x}",
        "size_bytes": 15_000_000_000,
        "verdict": verdict,
        "ended_at": received + timedelta(seconds=60),
    }


def _label(pk: int, run: int, story: Story, offer: Any) -> dict[str, Any]:
    return {
        "id": pk,
        "run": run,
        "number": offer.number,
        "source": "rules",
        "methods": offer.methods,
        "confidence": "high",
        "files_read": 1,
        "files_seen": 1,
        "created_at": story.began + timedelta(seconds=offer.elapsed_s),
    }


def _standing(pk: int, story: Story, best_of: dict[tuple[int, int], int]) -> dict[str, Any]:
    best = story.best
    return {
        "id": pk,
        "run": pk,
        "task": story.task,
        "protocol": PROTOCOLS[story.task],
        "baseline": story.baseline,
        "baseline_error": 1.2,
        "best": best and best.score,
        "best_error": best and 1.2,
        "best_number": best and best.number,
        "best_at": best and story.began + timedelta(seconds=best.elapsed_s),
        "best_elapsed_s": best and best.elapsed_s,
        "best_submission": best and best_of[pk, best.number],
        "submissions": len(story.offers),
        "scored": sum(offer.score is not None for offer in story.offers),
    }


def _baseline(pk: int, story: Story, evaluations: dict[tuple[str, str], int]) -> dict[str, Any]:
    return {"id": pk, "run": pk, "task": story.task, "evaluation": evaluations[story.task, story.base]}


_event_ids = iter(range(1, 10**12))


def _events(pk: int, story: Story) -> Iterator[dict[str, Any]]:
    """Its states, and one event a submission."""
    count = len(story.offers)
    for seq, state in ((1, "queued"), (2, "running"), (count + 3, "finished")):
        at = story.began + timedelta(seconds=BUDGET_S if state == "finished" else 0)
        yield {"id": next(_event_ids), "run": pk, "seq": seq, "kind": "run.state", "at": at, "data": {"state": state}}
    for offer in story.offers:
        at = story.began + timedelta(seconds=offer.elapsed_s + 60)
        data = {"number": offer.number, "state": "graded", "score": offer.score, "elapsed_s": offer.elapsed_s}
        yield {"id": next(_event_ids), "run": pk, "seq": offer.number + 2, "kind": "submission", "at": at, "data": data}
