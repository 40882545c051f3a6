"""Tasks and agent systems over the API."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmark.catalogue import Agent, Task, agents, tasks
from benchmark.services.needs import needs_missing
from benchmark.services.protocols import protocol_in_force
from frontend.api.base import ApiView


class TaskShape(serializers.Serializer[Any]):
    """A task of the benchmark."""

    id = serializers.CharField()
    title = serializers.CharField()
    level = serializers.CharField(help_text="L1 rule-based, L2 judge-based, L3 interactive.")
    protocol = serializers.CharField(help_text="Under which new runs are scored here.")
    summary = serializers.CharField(allow_blank=True)
    metric = serializers.CharField()
    eval_size = serializers.IntegerField(help_text="Held-out items.")
    needs = serializers.ListField(child=serializers.CharField(), help_text="Services that its evaluator asks.")
    missing = serializers.CharField(allow_blank=True, help_text="What this deployment lacks for it.")
    description = serializers.CharField(help_text="What agents are told, Markdown.")


class AgentShape(serializers.Serializer[Any]):
    """An agent system."""

    id = serializers.CharField()
    title = serializers.CharField()
    version = serializers.CharField(allow_blank=True)
    summary = serializers.CharField(allow_blank=True)
    drivers = serializers.ListField(child=serializers.CharField(), help_text="LLMs it was tried with.")


class Tasks(ApiView):
    """The tasks."""

    @extend_schema(operation_id="tasks_list", responses=TaskShape(many=True))
    def get(self, request: Request) -> Response:
        """Every task, by level and name."""
        found = sorted(tasks().values(), key=lambda task: (task.level, task.title, task.id))
        return Response([task_facts(task) for task in found])


class TaskOne(ApiView):
    """One task."""

    @extend_schema(operation_id="tasks_read", responses=TaskShape)
    def get(self, request: Request, task: str) -> Response:
        """What a task measures, and how."""
        return Response(task_facts(_known(tasks().get(task))))


class Agents(ApiView):
    """The agent systems."""

    @extend_schema(operation_id="agents_list", responses=AgentShape(many=True))
    def get(self, request: Request) -> Response:
        """Every agent system that can be started here."""
        return Response([agent_facts(agent) for agent in sorted(agents().values(), key=lambda each: each.id)])


class AgentOne(ApiView):
    """One agent system."""

    @extend_schema(operation_id="agents_read", responses=AgentShape)
    def get(self, request: Request, agent: str) -> Response:
        """An agent system, and the drivers it was tried with."""
        return Response(agent_facts(_known(agents().get(agent))))


def _known(found: Any) -> Any:
    if found is None:
        raise Http404
    return found


def task_facts(task: Task) -> dict[str, Any]:
    names = ("id", "title", "level", "summary", "metric", "eval_size", "description")
    return {name: getattr(task, name) for name in names} | {
        "protocol": protocol_in_force(task),
        "needs": list(task.needs),
        "missing": needs_missing(task),
    }


def agent_facts(agent: Agent) -> dict[str, Any]:
    names = ("id", "title", "version", "summary")
    return {name: getattr(agent, name) for name in names} | {"drivers": list(agent.drivers)}
