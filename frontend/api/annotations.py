"""Labels over the API, for people with the permission to annotate. The same blindness holds as on the pages."""

import csv
import json
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from benchmark.models import Run
from frontend.api.annotation_serializers import AnnotationCreateSerializer, LabelsSubmitSerializer
from frontend.api.base import AnyFormat, ApiView, by_method
from frontend.api.parameters import Parameter
from frontend.csv_text import FORMULA
from traces.models import ANNOTATE, Annotation, Trace
from traces.services.annotation import annotation_create, labels_submit
from traces.services.annotation_reading import FIELDS, annotations_for, export_rows, exported

FORMATS = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


class AnnotationView(ApiView):
    """Nothing about labels is public."""

    needs = by_method(GET=ANNOTATE, POST=ANNOTATE)
    scopes = by_method(GET="annotate", POST="annotate")

    def named(self, slug: str) -> Run:
        """Raises: ValidationError: there is none that this reader may see."""
        run = Run.objects.visible_to(self.request.user).filter(slug=slug).first()
        if run is None:
            raise ValidationError({"run": "There is no such run."})
        return run


class Annotations(AnnotationView):
    """Labels that the caller may see, and new ones of the caller's own."""

    parameters = (Parameter("run", "A run's id.", "slug", required=True),)

    @extend_schema(operation_id="annotations_list", responses={200: list[dict[str, Any]]})
    def get(self, request: Request) -> Response:
        """Labels of one run: one's own; after one has submitted, everybody's submitted ones."""
        run = self.run(self.given["run"])
        return Response(list(exported(annotations_for(self.person, run))))

    @extend_schema(
        operation_id="annotations_create", request=AnnotationCreateSerializer, responses={201: dict[str, Any]}
    )
    def post(self, request: Request) -> Response:
        """Store a label. It is never changed; `revises` names the label that it takes the place of."""
        body = AnnotationCreateSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        given = dict(body.validated_data)
        run = self.named(given.pop("run"))
        given["failure_type"] = given["failure_type"] or ""
        given["trace"] = _found(Trace.objects.filter(run=run, key=given["trace"]).first(), given["trace"], "trace")
        mine = Annotation.objects.filter(run=run, author=self.person)
        given["revises"] = _found(mine.filter(pk=given["revises"]).first(), given["revises"], "revises")
        made = annotation_create(author=self.person, run=run, **given)
        return Response(next(exported([made])), status=status.HTTP_201_CREATED)


class AnnotationsSubmit(AnnotationView):
    """The end of the caller's blind phase with a run."""

    @extend_schema(operation_id="annotations_submit", request=LabelsSubmitSerializer, responses={200: dict[str, Any]})
    def post(self, request: Request) -> Response:
        """Submit one's labels of a run; a second time changes nothing."""
        body = LabelsSubmitSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        run = self.named(body.validated_data["run"])
        done = labels_submit(author=self.person, run=run)
        return Response({"run": run.slug, "submitted_now": done})


class AnnotationsExport(AnnotationView):
    """All labels that the caller may see, as a file."""

    parameters = (Parameter("format", "Of the file.", choices=tuple(FORMATS), default="jsonl"),)
    content_negotiation_class = AnyFormat

    @extend_schema(operation_id="annotations_export", responses={(200, each): str for each in FORMATS.values()})
    def get(self, request: Request) -> StreamingHttpResponse:
        """Every label with who gave it, when, and what they had been shown before."""
        asked = self.given["format"]
        rows = export_rows(self.person)
        lines = _csv(rows) if asked == "csv" else (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        disposition = {"Content-Disposition": f'attachment; filename="annotations.{asked}"'}
        return StreamingHttpResponse(lines, content_type=FORMATS[asked], headers=disposition)


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
