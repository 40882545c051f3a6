"""What the API takes to start runs."""

from typing import Any

from rest_framework import serializers

from benchmark.models import Mode
from benchmark.services.runs import BUDGET_MAX_S, BUDGET_MIN_S, RESUMES_MAX, TASKS_MOST, TOKENS_MAX, USD_MAX

SECONDS: Any = {"min_value": BUDGET_MIN_S, "max_value": BUDGET_MAX_S}
DEFAULT = "Null: the deployment's."
TOKENS: Any = {"allow_null": True, "min_value": 1, "max_value": TOKENS_MAX, "help_text": f"Of the driver. {DEFAULT}"}
DOLLARS: Any = {"allow_null": True, "min_value": 0, "max_value": USD_MAX, "help_text": f"To its provider. {DEFAULT}"}


class Known(serializers.Serializer[Any]):
    """Refuses what it does not know: a misspelt budget would be no budget."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(set(data) - set(self.fields))):
            told = f"There is no such member; known are {', '.join(self.fields)}."
            raise serializers.ValidationError({str(name)[:64]: [told] for name in unknown[:10]})
        return super().to_internal_value(data)


class RunCreateSerializer(Known):
    """What starts a run; `budget_s` in seconds."""

    agent = serializers.CharField(max_length=64)
    task = serializers.CharField(max_length=64, required=False, default="")
    tasks = serializers.ListField(
        child=serializers.CharField(max_length=64), required=False, max_length=TASKS_MOST, help_text="Of a multi run."
    )
    base_model = serializers.CharField(max_length=256)
    driver = serializers.CharField(max_length=128, required=False, default="", allow_blank=True)
    mode = serializers.ChoiceField(choices=Mode.choices, default=Mode.FREE)
    budget_s = serializers.IntegerField(**SECONDS)
    token_budget = serializers.IntegerField(required=False, **TOKENS)
    cost_budget_usd = serializers.FloatField(required=False, **DOLLARS)
    resumes = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=RESUMES_MAX,
        help_text="How often an agent that ends early is started again.",
    )


class RunAgainSerializer(Known):
    """What may differ from the run that is repeated."""

    driver = serializers.CharField(max_length=128, required=False)
    mode = serializers.ChoiceField(choices=Mode.choices, required=False)
    budget_s = serializers.IntegerField(required=False, **SECONDS)
    token_budget = serializers.IntegerField(required=False, **TOKENS)
    cost_budget_usd = serializers.FloatField(required=False, **DOLLARS)
