"""The submissions of a run as places in its trace."""

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.cache import cache
from django.db.models import OuterRef, Subquery

from frontend.best_so_far import Point, points
from frontend.formats import score as score_text
from grading.models import Submission
from traces.contract import EventKind
from traces.methods.switches import MethodSwitch
from traces.models import Event, Trace, TraceState
from traces.selectors import search
from traces.storage.files import read_part

NUMBER = re.compile(rb'\\?"submission_id\\?"\s*:\s*(\d{1,6})')
SCORE = re.compile(rb'\\?"score\\?"\s*:\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)')
READ = 4096
"""Bytes of a result in which an answer of the grading server is looked for."""
SECONDS = 2.0
MOST = 2000


@dataclass(frozen=True)
class Mark:
    """One submission. `seq` is the event with its answer, None where the trace does not show it."""

    number: int
    state: str
    score: float | None
    best: float | None
    new_best: bool
    elapsed_s: float | None
    seq: int | None
    claimed: bool = False
    """The transcript alone says so; nothing was graded here."""
    switch: MethodSwitch | None = None

    @property
    def told(self) -> str:
        return score_text(self.score) if self.score is not None else self.state

    @property
    def label(self) -> str:
        best = ", new best" if self.new_best else ""
        switch = f", {self.switch.before} to {self.switch.after}" if self.switch else ""
        return f"Submission {self.number}: {self.told}{best}{', claimed' if self.claimed else ''}{switch}"


@dataclass(frozen=True)
class Answer:
    """What a result in the transcript says that the grading server said."""

    seq: int
    at: datetime | None
    score: float | None


def marks_of(
    trace: Trace,
    start: datetime | None,
    switches: Sequence[MethodSwitch] = (),
    *,
    only: Sequence[Submission] | None = None,
) -> dict[int, Mark]:
    """By number, in order. Submissions that were made here; else those of which the transcript speaks.

    `only`: those of one task, of a run with several.
    """
    changed = {switch.number: switch for switch in switches}
    answers = _answers(trace)
    made = Submission.objects.filter(run=trace.run_id)
    found = points(made.select_related("verdict") if only is None else only)
    if not found and (only is None or not made.exists()):
        return {mark.number: mark for mark in _claimed(answers, start)}
    moments = _moments(trace)
    return {
        point.submission.number: _mark(point, answers, moments.get(point.submission.pk), changed) for point in found
    }


def _mark(
    point: Point, answers: Mapping[int, Answer], by_time: int | None, changed: Mapping[int, MethodSwitch]
) -> Mark:
    row = point.submission
    seq = answers[row.number].seq if row.number in answers else by_time
    return Mark(
        row.number, row.state, point.score, point.best, point.new_best, row.elapsed_s, seq,
        switch=changed.get(row.number),
    )  # fmt: skip


def _moments(trace: Trace) -> dict[int, int | None]:
    """For each submission the first event after its arrival."""
    later = Event.objects.filter(trace=trace, at__gte=OuterRef("received_at")).order_by("at", "seq")
    first = Subquery(later.values("seq")[:1])
    return dict(Submission.objects.filter(run=trace.run_id).annotate(seq=first).values_list("pk", "seq"))


def _claimed(answers: Mapping[int, Answer], start: datetime | None) -> list[Mark]:
    found: list[Mark] = []
    best: float | None = None
    for number, answer in sorted(answers.items()):
        new = answer.score is not None and (best is None or answer.score > best)
        best = answer.score if new else best
        elapsed = (answer.at - start).total_seconds() if answer.at and start else None
        state = "graded" if answer.score is not None else "no score"
        found.append(Mark(number, state, answer.score, best, new, elapsed, answer.seq, claimed=True))
    return found


def _answers(trace: Trace) -> dict[int, Answer]:
    """The first answer of each number. A sealed trace's are remembered."""
    key = f"trace-answers-{trace.pk}-{trace.event_count}"
    known: dict[int, Answer] | None = cache.get(key)
    if known is None:
        known, whole = _found(trace)
        cache.set(key, known, 24 * 3600 if whole and trace.state == TraceState.SEALED else 60)
    return known


def _found(trace: Trace) -> tuple[dict[int, Answer], bool]:
    """And whether the trace was looked through to its end."""
    found: dict[int, Answer] = {}
    whole = False
    deadline, after, more = time.monotonic() + SECONDS, 0, True
    while more and len(found) < MOST and time.monotonic() < deadline:
        try:
            hits = search(trace, "submission_id", [EventKind.TOOL_RESULT], after, 500)
            texts = [
                read_part(trace.folder / "bodies", hit.event.body_offset, min(hit.event.text_bytes, READ))
                for hit in hits.hits
            ]
        except (OSError, ValueError):
            break
        for hit, text in zip(hits.hits, texts, strict=True):
            event = hit.event
            number = NUMBER.search(text)
            if number is not None:
                score = SCORE.search(text, number.start())
                seq = event.call_seq or event.seq
                found.setdefault(int(number[1]), Answer(seq, event.at, _score(score[1]) if score else None))
        more, after = hits.more and hits.through > after, hits.through
        whole = not more or len(found) >= MOST
    return found, whole


def _score(text: bytes) -> float | None:
    """A score in 0–100; None: none that a grading server gives."""
    value = float(json.loads(text))
    return value if 0 <= value <= 100 else None
