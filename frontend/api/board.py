"""The leaderboard over the API: the same board, filters and ranks as the page."""

from typing import Any

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmark.models import AuditEntry, Run, RunEvent
from frontend.api.base import ApiView
from frontend.api.parameters import Parameter
from frontend.api.versions import tables_version
from frontend.board import Filters, board
from frontend.board.export import FIELDS, baseline_rows, board_rows
from frontend.board.parameters import CHOICES, MANY, PARAMETERS
from grading.models import TaskStanding

HELP = {
    "q": "Words that agent, driver, base model, task or run id must hold.",
    "base": "Base models, with or without the owner before the slash.",
    "trust": "The least that was checked.",
    "budget": "Such as 12h, 7m, 90s.",
    "since": "Made on that day or later, such as 2026-11-30.",
    "until": "Made on that day or earlier.",
    "sort": "A column's key, - in front for the highest first; by rank when left out.",
}


def _parameter(field: str, name: str) -> Parameter:
    told = HELP.get(field, f"Only this {field}.")
    return Parameter(name, told, choices=tuple(CHOICES.get(field, ())), many=field in MANY)


class Leaderboard(ApiView):
    """The leaderboard."""

    parameters = tuple(_parameter(field, name) for field, name in PARAMETERS.items() if field not in ("cols", "hide"))
    reads_itself = True

    def version(self, **_: Any) -> str:
        return tables_version(RunEvent, Run, TaskStanding, AuditEntry)

    @extend_schema(
        operation_id="leaderboard_read",
        responses=inline_serializer(
            "Leaderboard",
            {
                "filters": serializers.DictField(),
                "fields": serializers.ListField(child=serializers.CharField(), help_text="Of each row."),
                "rows": serializers.ListField(
                    child=serializers.DictField(), help_text="One a cell: an agent stack on a task, with its rank band."
                ),
                "baselines": serializers.ListField(child=serializers.DictField(), help_text="The base models' own."),
            },
        ),
    )
    def get(self, request: Request) -> Response:
        """Best scores and improvements of agent stacks by base model and task, ranked as on the page."""
        filters = Filters.read(request.query_params)
        panels = board(filters)
        baselines = [
            {"base_model": panel.base_model, "base_digest": panel.digest, "group": group.kind} | row
            for panel in panels
            for group in panel.groups
            for row in baseline_rows(group)
        ]
        told = {"filters": filters.chosen, "fields": FIELDS, "rows": list(board_rows(panels)), "baselines": baselines}
        return Response(told)
