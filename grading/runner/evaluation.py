"""One grading run from spec to verdict."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmark.tasks.contract import Evaluator, Item, Record
from grading.contract import Fault, Finding, RunnerSpec, RunnerVerdict
from grading.runner.engines.protocol import Engine
from grading.runner.engines.starting import episodes_in_flight, start_engine
from grading.runner.episodes import EpisodeDriver, first_prompt
from grading.runner.events import Events
from grading.runner.faults import GradingFault, first_line
from grading.runner.samples import SampleStore
from grading.runner.services import connect
from grading.runner.subject import Subject, open_subject
from grading.runner.task_loading import checked_items, checked_metrics, load_evaluator
from grading.runner.verdicts import no_stop_warnings, protocol_id, spec_digest
from grading.runner.versions import run_versions


def evaluate(spec: RunnerSpec, out: Path, events: Events) -> RunnerVerdict:
    """Grade the spec's checkpoint. Every failure becomes a typed verdict; only interrupts are raised."""
    run = GradingRun(spec, out, events)
    try:
        return run.grade()
    except GradingFault as error:
        return run.failed(error.finding, error.fault)
    except Exception as error:  # the boundary: whatever else goes wrong here is ours
        return run.failed(Finding("I_RUNNER", first_line(error)), "infra")


class GradingRun:
    """The steps of one run, and what is known so far: a failure reports it too."""

    def __init__(self, spec: RunnerSpec, out: Path, events: Events) -> None:
        self._spec = spec
        self._out = out
        self._events = events
        self._started = time.monotonic()
        self._known = RunnerVerdict(
            protocol=protocol_id(spec), score=None, n_expected=0, n_scored=0, versions=run_versions(spec)
        )

    def grade(self) -> RunnerVerdict:
        """Load, probe, generate, score. Raises: GradingFault."""
        self._events.phase("loading")
        spec = self._spec
        evaluator = load_evaluator(Path(spec.task_dir), spec.protocol)
        connect(evaluator, spec.outside)
        items = checked_items(evaluator, spec)
        self._know(n_expected=len(items))
        subject = self._open()
        store = SampleStore(self._out, spec_digest(spec))
        try:
            self._play(evaluator, items, subject, store)
        finally:
            store.close()
            self._know_samples([store.records[item.id] for item in items if item.id in store.records])
        self._events.phase("scoring")
        records, digest = store.finish([item.id for item in items])
        metrics = checked_metrics(evaluator, records, len(items))
        return self._verdict(
            score=metrics.score,
            metrics={**metrics.extra, **self._known.metrics},
            warnings=(
                *no_stop_warnings(records, subject.stops, subject.end_of_turn),
                *(Finding(flag.code, flag.message, detail=flag.detail) for flag in metrics.flags),
            ),
            samples_sha256=digest,
        )

    def failed(self, finding: Finding, fault: Fault) -> RunnerVerdict:
        """The verdict without a score."""
        return self._verdict(finding=finding, fault=fault)

    def _open(self) -> Subject:
        subject, versions = open_subject(self._spec)
        self._know_versions(**versions)
        return subject

    def _play(self, evaluator: Evaluator, items: Sequence[Item], subject: Subject, store: SampleStore) -> None:
        pending = [item for item in items if item.id not in store.records]
        if len(pending) < len(items):
            self._events.resumed(len(items) - len(pending), len(items))
        engine = self._start(subject, evaluator, items[0])
        self._events.phase("generating")
        tokens = sum(record.tokens for record in store.records.values())

        def record(played: Record) -> None:
            nonlocal tokens
            store.add(played)
            tokens += played.tokens
            self._events.progress(len(store.records), len(items), tokens)

        driver = EpisodeDriver(engine, subject.encoder, evaluator, episodes_in_flight(self._spec))
        driver.play(pending, record)
        self._know(metrics=engine.metrics())
        self._know_versions(**engine.versions())

    def _start(self, subject: Subject, evaluator: Evaluator, item: Item) -> Engine:
        """The engine, loaded and tried with the item's first prompt."""
        _, request = subject.encoder.encode(first_prompt(evaluator, item), first=True)
        began = time.monotonic()
        engine = start_engine(self._spec, subject.checkpoint, subject.decoder, subject.context)
        self._know(seconds_loading=round(time.monotonic() - began, 3), sampling=dict(engine.sampling))
        self._events.phase("probing")
        engine.probe(request.tokens if request else ())
        self._know_versions(**engine.versions())
        return engine

    def _know(self, **fields: object) -> None:
        self._known = replace(self._known, **fields)  # type: ignore[arg-type]

    def _know_versions(self, **versions: str) -> None:
        self._know(versions={**self._known.versions, **versions})

    def _know_samples(self, records: Sequence[Record]) -> None:
        self._know(n_scored=len(records), tokens=sum(record.tokens for record in records))

    def _verdict(self, **fields: object) -> RunnerVerdict:
        self._know(**fields, seconds=round(time.monotonic() - self._started, 3))
        return self._known
