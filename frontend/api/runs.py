"""Runs over the API: listed, read, started, repeated, cancelled."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from benchmark.models import AuditEntry, Run, RunEvent
from frontend.api.base import ApiView, by_method
from frontend.api.paging import PAGING, keyset_page
from frontend.api.run_bodies import RunAgainSerializer, RunCreateSerializer
from frontend.api.run_rows import order_of, run_facts, run_filters, runs_matching
from frontend.api.shapes import RunShape
from frontend.api.shapes_pages import paged
from frontend.api.versions import tables_version
from frontend.starting import run_stop, runs_start, values_of
from grading.models import TaskStanding

OPERATE = "benchmark.operate_run"


class Runs(ApiView):
    """All runs that the reader may see."""

    parameters = (*run_filters(), *PAGING)
    needs = by_method(POST=OPERATE)
    scopes = by_method(POST="operate")

    def version(self, **_: Any) -> str:
        return tables_version(RunEvent, Run, TaskStanding, AuditEntry)

    @extend_schema(operation_id="runs_list", responses=paged(RunShape))
    def get(self, request: Request) -> Response:
        """Runs by filter and order, the newest first, a page at a time."""
        rows = runs_matching(self.given, request.user)
        page = keyset_page(request, rows, order_of(self.given), self.given)
        facts = run_facts(page.ids, task=self.given.get("task", ""))
        return Response({"next": page.next, "results": facts})

    @extend_schema(operation_id="runs_start", request=RunCreateSerializer, responses={201: RunShape})
    def post(self, request: Request) -> Response:
        """Start a run. `GET /api/v1/queue/cost/` tells before what it may use."""
        body = RunCreateSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        (run,) = runs_start(values=body.validated_data, actor=self.person)
        return Response(run_facts([run.pk])[0], status=status.HTTP_201_CREATED)


class RunOne(ApiView):
    """One run."""

    def version(self, **kwargs: Any) -> str:
        run = self.run(kwargs["slug"])
        return f"{run.event_seq}|{tables_version(AuditEntry)}"

    @extend_schema(operation_id="runs_read", responses=RunShape)
    def get(self, request: Request, slug: str) -> Response:
        """A run and where it stands on each of its tasks."""
        return Response(run_facts([self.run(slug).pk])[0])


class RunCancel(ApiView):
    """The end of a run."""

    needs = by_method(POST=OPERATE)
    scopes = by_method(POST="operate")

    @extend_schema(operation_id="runs_cancel", request=None, responses={200: RunShape, 409: dict[str, Any]})
    def post(self, request: Request, slug: str) -> Response:
        """Ask for the end of a run; one that has ended or is being cancelled answers 409."""
        run = self.run(slug)
        if not run_stop(run=run, actor=self.person):
            run.refresh_from_db()
            told = f"This run is {run.get_state_display()}." if run.terminal else "This run is being cancelled already."
            return Response({"detail": told}, status=status.HTTP_409_CONFLICT)
        return Response(run_facts([run.pk])[0])


class RunAgain(ApiView):
    """The same once more."""

    needs = by_method(POST=OPERATE)
    scopes = by_method(POST="operate")

    @extend_schema(operation_id="runs_rerun", request=RunAgainSerializer, responses={201: RunShape})
    def post(self, request: Request, slug: str) -> Response:
        """Start a run like this one; the body may change its budget, mode or driver."""
        run = self.run(slug)
        body = RunAgainSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        values = values_of(run) | body.validated_data
        (made,) = runs_start(values=values, actor=self.person, like=run.slug)
        return Response(run_facts([made.pk])[0], status=status.HTTP_201_CREATED)
