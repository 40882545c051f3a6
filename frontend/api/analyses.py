"""Analyses over the API: the same builders and filters as the pages."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from frontend.analyses import Kind, analyses
from frontend.analyses.asking import asked_of
from frontend.analyses.contract import Cell, Table
from frontend.api.base import ApiView
from frontend.api.board import Leaderboard

FILTERS = tuple(each for each in Leaderboard.parameters if each.name != "sort")


class KindShape(serializers.Serializer[Any]):
    """An analysis. `choices`: its own parameters with their values, the first being the default."""

    id = serializers.CharField()
    title = serializers.CharField()
    about = serializers.CharField()
    paper = serializers.CharField(help_text="Which of the paper's tables and figures it is.")
    choices: Any = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    published = serializers.BooleanField(help_text="Whether the paper prints numbers for it.")


ANALYSIS = inline_serializer(
    "AnalysisShape",
    {
        "id": serializers.CharField(),
        "title": serializers.CharField(),
        "filters": serializers.DictField(),
        "choices": serializers.DictField(),
        "reading": serializers.CharField(help_text="What it shows, in one line."),
        "empty": serializers.CharField(help_text="Why there is nothing; empty where there is something."),
        "note": serializers.CharField(),
        "tables": serializers.ListField(child=serializers.DictField(), help_text="Each with columns and rows."),
        "figure": serializers.DictField(allow_null=True, help_text="Plotly's JSON."),
    },
)


class Analyses(ApiView):
    """The analyses."""

    @extend_schema(operation_id="analyses_list", responses=KindShape(many=True))
    def get(self, request: Request) -> Response:
        """Every analysis there is."""
        return Response([kind_facts(kind) for kind in analyses().values()])


class AnalysisOne(ApiView):
    """One analysis."""

    parameters = FILTERS
    reads_itself = True

    @extend_schema(operation_id="analyses_read", responses=ANALYSIS)
    def get(self, request: Request, name: str) -> Response:
        """Built from the runs that the filters leave; without an origin, from those made here.

        An analysis's own choices are further parameters.
        """
        kind = analyses().get(name)
        if kind is None:
            raise Http404
        asked = asked_of(request._request, kind)
        found = kind.build(asked)
        told = {"id": kind.id, "title": kind.title, "filters": asked.filters.narrowing, "choices": asked.choices}
        told |= {"reading": found.reading, "empty": found.empty, "note": found.note}
        return Response(told | {"tables": [table_facts(table) for table in found.tables], "figure": found.figure})


def kind_facts(kind: Kind) -> dict[str, Any]:
    names = ("id", "title", "about", "paper", "published")
    choices = {name: list(values) for name, values in kind.choices.items()}
    return {name: getattr(kind, name) for name in names} | {"choices": choices}


def table_facts(table: Table) -> Mapping[str, Any]:
    columns = [{"title": each.title, "note": each.note} for each in table.columns]
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    return {"title": table.title, "caption": table.caption, "columns": columns, "rows": rows}


def _cell(cell: Cell) -> object:
    """Its value; its words where it has none."""
    if cell.methods:
        return [name for name, _ in cell.methods]
    return cell.value if isinstance(cell.value, int | float | str | None) else str(cell.value)
