"""The queue, the workers and what runs would cost, over the API."""

from typing import Any

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from benchmark.catalogue import CatalogueError
from benchmark.models import Worker
from benchmark.services.base_models import base_model_problem
from benchmark.services.runs import BUDGET_MAX_S, BUDGET_MIN_S
from frontend.api.base import ApiView
from frontend.api.parameters import Parameter
from frontend.api.shapes import moment
from frontend.forms import RUNS_MOST
from frontend.queue_page import queue_page, worker_rows
from frontend.run_cost import run_cost


class WaitingShape(serializers.Serializer[Any]):
    """One kind of work in the queue."""

    kind = serializers.CharField()
    meaning = serializers.CharField()
    depth = serializers.IntegerField()
    oldest = moment()
    running = serializers.IntegerField()


class WorkerShape(serializers.Serializer[Any]):
    """A worker that has reported in the last two days."""

    name = serializers.CharField()
    host = serializers.CharField()
    standing = serializers.ChoiceField(choices=["live", "draining", "silent", "ended"])
    queues = serializers.ListField(child=serializers.CharField())
    slots = serializers.DictField(child=serializers.IntegerField())
    gpus = serializers.ListField(child=serializers.DictField())
    versions = serializers.DictField(child=serializers.CharField())
    notices = serializers.ListField(child=serializers.CharField())
    started_at = serializers.DateTimeField()
    seen_at = serializers.DateTimeField()
    ended_at = moment()


class CostShape(serializers.Serializer[Any]):
    """What runs would use. Hours; null: nothing past to estimate from."""

    runs = serializers.IntegerField()
    gpus = serializers.FloatField(help_text="Of each run.")
    budget_s = serializers.IntegerField()
    reserved_gpu_hours = serializers.FloatField(help_text="At most: every run uses its whole budget.")
    grading_hours = serializers.FloatField(allow_null=True, help_text="Of grading workers, estimated.")
    graded_before = serializers.IntegerField(help_text="Past evaluations that this rests on.")
    provider_usd = serializers.FloatField(allow_null=True, help_text="Estimated.")
    paid_before = serializers.IntegerField(help_text="Past runs that this rests on.")
    baseline_known = serializers.BooleanField(help_text="Else the base model is graded first.")
    waiting_before = serializers.IntegerField()
    starts_at = moment()


class Queue(ApiView):
    """The queue."""

    @extend_schema(
        operation_id="queue_read",
        responses=inline_serializer("Queue", {"waiting": WaitingShape(many=True), "oldest": moment()}),
    )
    def get(self, request: Request) -> Response:
        """How much of each kind of work waits, since when, and how much is under way."""
        page = queue_page(request.user)
        names = ("kind", "meaning", "depth", "oldest", "running")
        waiting = [{name: getattr(kind, name) for name in names} for kind in page.waiting]
        return Response({"waiting": waiting, "oldest": page.oldest})


class Workers(ApiView):
    """The workers."""

    @extend_schema(operation_id="workers_list", responses=WorkerShape(many=True))
    def get(self, request: Request) -> Response:
        """Every worker that lives, was lost, or ended just now, with its last heartbeat."""
        return Response([worker_facts(row.report) for row in worker_rows(()) if row.report])


class Cost(ApiView):
    """What runs would cost."""

    parameters = (
        Parameter("task", "A task's id.", required=True),
        Parameter("budget_s", "Seconds.", "integer", low=BUDGET_MIN_S, high=BUDGET_MAX_S, required=True),
        Parameter("base_model", "As when a run is started.", required=True),
        Parameter("agent", "An agent's id.", default=""),
        Parameter("driver", "Its LLM.", default=""),
        Parameter("runs", "How many.", "integer", low=1, high=RUNS_MOST, default=1),
    )

    @extend_schema(operation_id="cost_read", responses=CostShape)
    def get(self, request: Request) -> Response:
        """What runs would reserve at most and probably use, and about when the first could start."""
        if problem := base_model_problem(self.given["base_model"]):
            raise ValidationError({"base_model": problem})
        try:
            return Response(run_cost(**self.given).as_data())
        except CatalogueError as error:
            raise ValidationError({"task": str(error)}) from None


def worker_facts(worker: Worker) -> dict[str, Any]:
    names = ("name", "host", "standing", "queues", "slots", "gpus", "versions", "notices", "started_at", "seen_at")
    return {name: getattr(worker, name) for name in (*names, "ended_at")}
