"""Labels over the API, for people with the permission to annotate. The same blindness holds as on the pages."""

import csv
import json
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any, cast

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError as DjangoValidationError
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from benchmark.models import Run
from frontend.api.annotation_serializers import AnnotationCreateSerializer, LabelsSubmitSerializer
from frontend.csv_text import FORMULA
from traces.models import ANNOTATE, Annotation, Trace
from traces.services.annotation import annotation_create, labels_submit
from traces.services.annotation_reading import FIELDS, annotations_for, export_rows, exported

FORMATS = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


class MayAnnotate(BasePermission):
    """Nothing about labels is public."""

    message = "Labels need the permission to annotate."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user and request.user.has_perm(ANNOTATE))


class AnyFormat(DefaultContentNegotiation):
    """`format` names the export's format, not a renderer."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        renderers = list(renderers)
        return renderers[0], renderers[0].media_type


class Annotations(APIView):
    """Labels that the caller may see, and new ones of the caller's own."""

    permission_classes = (MayAnnotate,)

    @extend_schema(parameters=[OpenApiParameter("run", str, required=True)], responses={200: list[dict[str, Any]]})
    def get(self, request: Request) -> Response:
        """Labels of one run: one's own; after one has submitted, everybody's submitted ones."""
        run = get_object_or_404(Run, slug=request.query_params.get("run", "").replace("\x00", ""))
        return Response(list(exported(annotations_for(cast(User, request.user), run))))

    @extend_schema(request=AnnotationCreateSerializer, responses={201: dict[str, Any]})
    def post(self, request: Request) -> Response:
        """Store a label. It is never changed; `revises` names the label that it takes the place of."""
        body = AnnotationCreateSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        given, author = dict(body.validated_data), cast(User, request.user)
        run = _run(given.pop("run"))
        given["failure_type"] = given["failure_type"] or ""
        given["trace"] = _found(Trace.objects.filter(run=run, key=given["trace"]).first(), given["trace"], "trace")
        mine = Annotation.objects.filter(run=run, author=author)
        given["revises"] = _found(mine.filter(pk=given["revises"]).first(), given["revises"], "revises")
        try:
            made = annotation_create(author=author, run=run, **given)
        except DjangoValidationError as error:
            raise ValidationError(error.message_dict) from error
        return Response(next(exported([made])), status=status.HTTP_201_CREATED)


class AnnotationsSubmit(APIView):
    """The end of the caller's blind phase with a run."""

    permission_classes = (MayAnnotate,)

    @extend_schema(request=LabelsSubmitSerializer, responses={200: dict[str, Any]})
    def post(self, request: Request) -> Response:
        """Submit one's labels of a run; a second time changes nothing."""
        body = LabelsSubmitSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        run = _run(body.validated_data["run"])
        try:
            done = labels_submit(author=cast(User, request.user), run=run)
        except DjangoValidationError as error:
            raise ValidationError(error.message_dict) from error
        return Response({"run": run.slug, "submitted_now": done})


class AnnotationsExport(APIView):
    """All labels that the caller may see, as a file."""

    permission_classes = (MayAnnotate,)
    content_negotiation_class = AnyFormat

    @extend_schema(parameters=[OpenApiParameter("format", str, enum=list(FORMATS))], responses={(200, "text/csv"): str})
    def get(self, request: Request) -> StreamingHttpResponse:
        """`format` is `jsonl` (the default) or `csv`."""
        asked = request.query_params.get("format", "jsonl")
        if asked not in FORMATS:
            raise ValidationError({"format": f"Give one of {', '.join(FORMATS)}."})
        rows = export_rows(cast(User, request.user))
        lines = _csv(rows) if asked == "csv" else (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        disposition = {"Content-Disposition": f'attachment; filename="annotations.{asked}"'}
        return StreamingHttpResponse(lines, content_type=FORMATS[asked], headers=disposition)


def _run(slug: str) -> Run:
    run = Run.objects.filter(slug=slug).first()
    if run is None:
        raise ValidationError({"run": "There is no such run."})
    return run


def _found(row: Any, asked: object, name: str) -> Any:
    if asked is not None and row is None:
        raise ValidationError({name: "The run has none of this name that is yours to use."})
    return row


def _csv(rows: Iterator[Mapping[str, Any]]) -> Iterator[str]:
    """Lists as numbers with spaces between; text that a spreadsheet would run is quoted."""
    yield _line(FIELDS)
    for row in rows:
        yield _line([_cell(value) for value in row.values()])


def _cell(value: Any) -> object:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "'" + value if isinstance(value, str) and value.startswith(FORMULA) else value


def _line(cells: Any) -> str:
    out = StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()
