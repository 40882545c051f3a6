"""What the API takes and gives."""

from typing import Any

from rest_framework import serializers

from benchmark.models import Mode, Run, RunEvent
from benchmark.services.protocols import protocol_is_ranked
from grading.selectors import standing


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run and where it stands. Scores are 0..100; null means not scored."""

    baseline_score = serializers.SerializerMethodField()
    best_score = serializers.SerializerMethodField()
    improvement = serializers.SerializerMethodField()
    ranked = serializers.SerializerMethodField(help_text="False: a limited protocol is never ranked.")

    class Meta:
        model = Run
        fields = (
            "slug",
            "agent",
            "agent_version",
            "driver",
            "task",
            "protocol",
            "base_model",
            "mode",
            "budget_s",
            "origin",
            "state",
            "step",
            "sandbox",
            "sandbox_note",
            "exit_code",
            "fault_code",
            "fault_detail",
            "created_at",
            "started_at",
            "deadline_at",
            "ended_at",
            "submission_count",
            "event_seq",
            "tokens",
            "baseline_score",
            "best_score",
            "improvement",
            "ranked",
        )

    def get_baseline_score(self, run: Run) -> float | None:
        return standing(run).baseline

    def get_best_score(self, run: Run) -> float | None:
        return standing(run).best

    def get_ranked(self, run: Run) -> bool:
        return protocol_is_ranked(run.protocol)

    def get_improvement(self, run: Run) -> float | None:
        return standing(run).improvement


class RunCreateSerializer(serializers.Serializer[Any]):
    """What starts a run; `budget_s` in seconds."""

    agent = serializers.CharField(max_length=64)
    task = serializers.CharField(max_length=64)
    base_model = serializers.CharField(max_length=256)
    driver = serializers.CharField(max_length=128, required=False, default="")
    mode = serializers.ChoiceField(choices=Mode.choices, default=Mode.FREE)
    budget_s = serializers.IntegerField(min_value=1)


class RunEventSerializer(serializers.ModelSerializer[RunEvent]):
    """One event of a run's log."""

    class Meta:
        model = RunEvent
        fields = ("seq", "kind", "at", "data")
