"""The public API, read by everybody, written by operators."""

import re
from typing import Any, cast

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

from benchmark.models import Run, RunEvent
from benchmark.services.runs import run_cancel, run_create
from frontend.api.permissions import OperateOrRead
from frontend.api.serializers import RunCreateSerializer, RunEventSerializer, RunSerializer
from grading.models import Submission
from grading.selectors import baseline_score, submission_facts
from grading.services.records import run_account

EVENTS_MOST = 500
FILTERS = ("state", "task", "agent", "driver", "mode", "base_model", "protocol", "origin")


class RunPagination(LimitOffsetPagination):
    """Fifty runs a page, at most a hundred."""

    max_limit = 100


class RunViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Run]):
    """Runs, newest first. Filters are query parameters named like the fields."""

    serializer_class = RunSerializer
    pagination_class = RunPagination
    permission_classes = (OperateOrRead,)
    lookup_field = "slug"
    lookup_value_regex = r"[\w-]+"
    queryset = Run.objects.all()

    def get_queryset(self) -> QuerySet[Run]:
        given = self.request.query_params
        wanted = {name: given[name].replace("\x00", "") for name in FILTERS if name in given}
        return super().get_queryset().filter(**wanted)

    @extend_schema(request=RunCreateSerializer, responses={201: RunSerializer})
    def create(self, request: Request) -> Response:
        """Start a run."""
        body = RunCreateSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        try:
            run = run_create(**body.validated_data, created_by=cast(User, request.user))
        except DjangoValidationError as error:
            raise ValidationError(error.message_dict) from error
        return Response(RunSerializer(run).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=RunSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, slug: str) -> Response:
        """Ask for the end of a run; one that has ended answers 409."""
        run = self.get_object()
        if not run_cancel(run):
            return Response({"detail": f"This run is {run.get_state_display()}."}, status=status.HTTP_409_CONFLICT)
        run.refresh_from_db()
        return Response(RunSerializer(run).data)

    @extend_schema(responses=RunEventSerializer(many=True))
    @action(detail=True)
    def events(self, request: Request, slug: str) -> Response:
        """Up to 500 events after the sequence number `after` (default 0)."""
        after = request.query_params.get("after", "0")
        if not re.fullmatch(r"[0-9]{1,18}", after):
            raise ValidationError({"after": "Give the last sequence number you have, 0 for all."})
        events = RunEvent.objects.filter(run=self.get_object(), seq__gt=int(after)).order_by("seq")[:EVENTS_MOST]
        return Response(RunEventSerializer(events, many=True).data)

    @extend_schema(responses={200: dict[str, Any]})
    @action(detail=True)
    def submissions(self, request: Request, slug: str) -> Response:
        """Every submission with its verdict, oldest first."""
        run = self.get_object()
        baseline = baseline_score(run.pk)
        rows = Submission.objects.filter(run=run).select_related("verdict")
        return Response([submission_facts(row, baseline) for row in rows])

    @extend_schema(responses={200: dict[str, Any]})
    @action(detail=True)
    def metrics(self, request: Request, slug: str) -> Response:
        """Benchmark-native and process metrics with their definitions, and the reference's metrics.json."""
        return Response(run_account(self.get_object()).metrics.as_data())
