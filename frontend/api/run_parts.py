"""What belongs to one run: its submissions, events, curve, metrics, and labels."""

from dataclasses import asdict
from itertools import accumulate
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from benchmark.models import RunEvent
from frontend.api.base import ApiView, by_method
from frontend.api.paging import cursor_read, cursor_write, next_of
from frontend.api.parameters import Parameter
from frontend.api.shapes import AttemptShape, EventShape, LabelShape, PointsShape, SubmissionShape
from frontend.api.shapes_pages import paged
from frontend.api.versions import tables_version
from frontend.ranking import rankable
from frontend.run_attempts import attempts_of, intakes_of
from grading.models import Submission, SubmissionState, TaskStanding
from grading.selectors import UNTOLD, submission_facts
from grading.services.records import run_account
from traces.methods.words import Method
from traces.models import CodeSnapshot, MethodLabel
from traces.services.labels import label_correct

SUBMISSIONS_MOST, EVENTS_MOST, POINTS_MOST = 200, 1000, 20_000
SEQ_MOST = 10**15


class OfRun(ApiView):
    """A part whose every change is an event of the run."""

    def version(self, **kwargs: Any) -> str:
        return str(self.run(kwargs["slug"]).event_seq)


class RunSubmissions(OfRun):
    """The run's submissions."""

    parameters = (
        Parameter("limit", "Rows on a page.", "integer", low=1, high=SUBMISSIONS_MOST, default=SUBMISSIONS_MOST),
        Parameter("cursor", "Where the page begins, as `next` of the last answer has it."),
        Parameter("state", "Only those in this state.", choices=tuple(SubmissionState.values), many=True),
        Parameter("task", "Only those for this task of a multi run."),
    )

    @extend_schema(operation_id="submissions_list", responses=paged(SubmissionShape))
    def get(self, request: Request, slug: str) -> Response:
        """Every submission with its verdict, oldest first, a page at a time."""
        run, given = self.run(slug), self.given
        rows = Submission.objects.filter(run=run).select_related("verdict").defer(*UNTOLD).order_by("number")
        if "state" in given:
            rows = rows.filter(state__in=given["state"])
        if task := given.get("task"):
            rows = rows.filter(task__in=[task, ""] if task == run.task else [task])
        if cursor := given.get("cursor"):
            rows = rows.filter(number__gt=cursor_read(cursor, int)[0])
        found = list(rows[: given["limit"] + 1])
        shown = found[: given["limit"]]
        baselines = dict(TaskStanding.objects.filter(run=run).values_list("task", "baseline"))
        facts = [
            {"task": row.task or run.task, **submission_facts(row, baselines.get(row.task or run.task))}
            for row in shown
        ]
        more = next_of(request, cursor_write(shown[-1].number)) if len(found) > len(shown) else None
        return Response({"next": more, "results": facts})


class RunEvents(OfRun):
    """The run's log."""

    parameters = (
        Parameter("after", "The last sequence number you have, 0 for all.", "integer", high=SEQ_MOST, default=0),
        Parameter("limit", "At most that many.", "integer", low=1, high=EVENTS_MOST, default=500),
    )

    @extend_schema(operation_id="events_list", responses=EventShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Events after the sequence number `after`, in order."""
        rows = RunEvent.objects.filter(run=self.run(slug), seq__gt=self.given["after"]).order_by("seq")
        return Response(list(rows.values("seq", "kind", "at", "data")[: self.given["limit"]]))


class RunPoints(OfRun):
    """The run's curve."""

    parameters = (Parameter("task", "Of a multi run; its first by default."),)

    @extend_schema(operation_id="points_read", responses=PointsShape)
    def get(self, request: Request, slug: str) -> Response:
        """Score and best so far of every submission, over time, tokens and numbers."""
        run = self.run(slug)
        task = self.given.get("task", run.task)
        rows = Submission.objects.filter(run=run, task__in=[task, ""] if task == run.task else [task])
        columns = rows.order_by("number").values_list("number", "elapsed_s", "tokens", "state", "verdict__score")
        found = list(columns[:POINTS_MOST])
        scores = [score if state == SubmissionState.GRADED and rankable(score) else None for *_, state, score in found]
        baseline = TaskStanding.objects.filter(run=run, task=task).values_list("baseline", flat=True).first()
        return Response(
            {
                "task": task,
                "baseline_score": baseline,
                "number": [row[0] for row in found],
                "elapsed_s": [row[1] for row in found],
                "tokens": [row[2] for row in found],
                "score": scores,
                "best": list(accumulate(scores, _higher)),
            }
        )


def _higher(best: float | None, score: float | None) -> float | None:
    return score if best is None or (score is not None and score > best) else best


class RunIntegrity(OfRun):
    """What the run tried that it may not do."""

    @extend_schema(operation_id="integrity_read", responses=AttemptShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Every kind of attempt that was seen. All of them were contained; people judge what they mean."""
        run = self.run(slug)
        return Response([asdict(attempt) for attempt in attempts_of(run, intakes_of(run))])


class RunMetrics(ApiView):
    """The run's metrics."""

    parameters = (Parameter("task", "Of a multi run; its first by default."),)

    def version(self, **kwargs: Any) -> str | None:
        run = self.run(kwargs["slug"])
        told = tables_version(MethodLabel, CodeSnapshot)
        return f"{run.event_seq}|{told}" if run.terminal else None

    @extend_schema(operation_id="metrics_read", responses=dict[str, Any])
    def get(self, request: Request, slug: str) -> Response:
        """Benchmark-native and process metrics with their definitions, and the reference's metrics.json."""
        run = self.run(slug)
        return Response(run_account(run, self.given.get("task", run.task)).metrics.as_data())


class LabelSerializer(serializers.Serializer[Any]):
    """A correction: all methods in the order they were applied, none: no training; and why."""

    number = serializers.IntegerField(min_value=1, max_value=10**9)
    methods = serializers.ListField(
        child=serializers.ChoiceField(choices=[each.value for each in Method]), max_length=20
    )
    reason = serializers.CharField(max_length=10_000)


class RunLabels(ApiView):
    """Which method made each submission's checkpoint."""

    needs = by_method(POST="traces.label_run")
    scopes = by_method(POST="annotate")

    def version(self, **kwargs: Any) -> str:
        return f"{self.run(kwargs['slug']).pk}|{tables_version(MethodLabel)}"

    @extend_schema(operation_id="labels_list", responses=LabelShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Every label of every submission, the rules' and people's; none is ever changed."""
        rows = list(MethodLabel.objects.filter(run=self.run(slug)).order_by("number", "id"))
        last = {row.number: row.pk for row in sorted(rows, key=lambda row: (row.source == "person", row.pk))}
        return Response([label_facts(row, in_force=last[row.number] == row.pk) for row in rows])

    @extend_schema(operation_id="labels_correct", request=LabelSerializer, responses={201: LabelShape})
    def post(self, request: Request, slug: str) -> Response:
        """Correct a label; the earlier ones stay in the record."""
        run = self.run(slug)
        body = LabelSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        made = label_correct(run=run, author=self.person, **body.validated_data)
        return Response(label_facts(made, in_force=True), status=status.HTTP_201_CREATED)


def label_facts(row: MethodLabel, *, in_force: bool) -> dict[str, Any]:
    names = ("id", "number", "source", "methods", "confidence", "reason", "created_at")
    return {name: getattr(row, name) for name in names} | {"author": row.author_name, "in_force": in_force}
