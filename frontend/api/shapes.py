"""What the API gives, for the schema and its readers. Scores are 0..100, null: not scored; times are UTC."""

from typing import Any

from rest_framework import serializers
from rest_framework.serializers import Serializer

from benchmark.models import EventKind, Mode, Origin, RunState, Trust
from grading.models import SubmissionState


def in_points(told: str = "0..100; null: not scored.") -> serializers.FloatField:
    return serializers.FloatField(allow_null=True, help_text=told)


def moment() -> serializers.DateTimeField:
    return serializers.DateTimeField(allow_null=True)


class StandingShape(Serializer[Any]):
    """Where a run stands on one of its tasks."""

    task = serializers.CharField()
    protocol = serializers.CharField()
    baseline_score = in_points("Of the base model itself.")
    baseline_error = in_points("Standard errors are in points.")
    best_score = in_points()
    best_error = in_points()
    best_number = serializers.IntegerField(allow_null=True, help_text="The best submission's.")
    best_at = moment()
    best_elapsed_s = serializers.FloatField(allow_null=True, help_text="Seconds of the budget used by then.")
    final_score = in_points("A moderator's, where `flag_reason` is not empty.")
    flag_reason = serializers.CharField(allow_blank=True)
    score = in_points("The score that counts: the best, or the final one where flagged.")
    improvement = in_points("`score` less `baseline_score`.")
    submissions = serializers.IntegerField(help_text="That have ended.")
    scored = serializers.IntegerField()
    ranked = serializers.BooleanField(help_text="False: a limited protocol is never ranked.")


class RunShape(Serializer[Any]):
    """A run and where it stands; the scores at the top are those on `task`, a multi run's first."""

    slug = serializers.CharField()
    agent = serializers.CharField()
    agent_version = serializers.CharField(allow_blank=True)
    driver = serializers.CharField(help_text="The LLM inside the agent.")
    task = serializers.CharField()
    tasks = serializers.ListField(child=serializers.CharField())
    protocol = serializers.CharField()
    base_model = serializers.CharField()
    base_digest = serializers.CharField(allow_blank=True)
    mode = serializers.ChoiceField(choices=Mode.choices)
    budget_s = serializers.IntegerField()
    origin = serializers.ChoiceField(choices=Origin.choices)
    trust = serializers.ChoiceField(choices=Trust.choices, allow_blank=True, help_text="Empty: made and graded here.")
    source: Any = serializers.DictField(help_text="Of a run that was not made here: a paper's table, or a bundle.")
    state = serializers.ChoiceField(choices=RunState.choices)
    step = serializers.CharField(allow_blank=True)
    sandbox = serializers.CharField(allow_blank=True)
    sandbox_note = serializers.CharField(allow_blank=True)
    exit_code = serializers.IntegerField(allow_null=True)
    fault_code = serializers.CharField(allow_blank=True)
    fault_detail = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    started_at = moment()
    deadline_at = moment()
    ended_at = moment()
    submission_count = serializers.IntegerField()
    event_seq = serializers.IntegerField(help_text="The last event's number.")
    tokens = serializers.IntegerField(allow_null=True)
    token_budget = serializers.IntegerField(allow_null=True)
    cost_usd = serializers.FloatField(allow_null=True, help_text="Paid to the driver's provider.")
    cost_budget_usd = serializers.FloatField(allow_null=True)
    resumes = serializers.IntegerField(help_text="How often an agent that ends early is started again at most.")
    resumed = serializers.IntegerField(help_text="How often it was.")
    baseline_score = in_points("Of the base model itself.")
    best_score = in_points()
    best_error = in_points("Standard error in points.")
    score = in_points("The score that counts: the best, or a moderator's where flagged.")
    improvement = in_points("`score` less `baseline_score`.")
    flag_reason = serializers.CharField(allow_blank=True)
    ranked = serializers.BooleanField(help_text="False: a limited protocol is never ranked.")
    standings = StandingShape(many=True)


class SubmissionShape(Serializer[Any]):
    """One checkpoint offered for grading."""

    number = serializers.IntegerField()
    task = serializers.CharField()
    state = serializers.ChoiceField(choices=SubmissionState.choices)
    model_path = serializers.CharField()
    received_at = serializers.DateTimeField()
    ended_at = moment()
    elapsed_s = serializers.FloatField(help_text="Seconds of the budget used when it arrived.")
    seconds = serializers.FloatField(allow_null=True, help_text="From its arrival to its end.")
    tokens = serializers.IntegerField(allow_null=True)
    score = in_points()
    claimed = serializers.BooleanField(help_text="The score is its submitter's claim: nothing was graded here.")
    standard_error = in_points("In points.")
    improvement = in_points()
    code = serializers.CharField(allow_blank=True, help_text="Why it has no score.")
    message = serializers.CharField(allow_blank=True)
    fix = serializers.CharField(allow_blank=True)
    warnings = serializers.ListField()
    same_as = serializers.CharField(allow_blank=True)
    digest = serializers.CharField(allow_blank=True)
    evaluation = serializers.IntegerField(allow_null=True)


class EventShape(Serializer[Any]):
    """One event of a run's log; it never changes."""

    seq = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=EventKind.choices)
    at = serializers.DateTimeField()
    data: Any = serializers.DictField()


class AttemptShape(Serializer[Any]):
    """One kind of attempt at what a run may not do."""

    source: Any = serializers.ChoiceField(choices=["gateway", "limit", "log", "submission"], help_text="Who saw it.")
    code = serializers.CharField()
    title = serializers.CharField()
    count = serializers.IntegerField()
    places = serializers.ListField(child=serializers.CharField(), help_text="The first few, secrets masked.")


class PointsShape(Serializer[Any]):
    """A run's curve as columns of equal length, one place a submission, in the order of their numbers."""

    task = serializers.CharField()
    baseline_score = in_points("Of the base model itself.")
    number = serializers.ListField(child=serializers.IntegerField())
    elapsed_s = serializers.ListField(child=serializers.FloatField())
    tokens = serializers.ListField(child=serializers.IntegerField(allow_null=True))
    score = serializers.ListField(child=in_points())
    best = serializers.ListField(child=in_points(), help_text="The running maximum; null: nothing scored yet.")


class LabelShape(Serializer[Any]):
    """A statement about how a submission's checkpoint was made; the last of a submission is in force."""

    id = serializers.IntegerField()
    number = serializers.IntegerField(help_text="The submission's.")
    source: Any = serializers.ChoiceField(choices=["rules", "person"])
    methods = serializers.ListField(child=serializers.CharField(), help_text="In the order they were applied.")
    confidence = serializers.CharField(allow_blank=True)
    author = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    in_force = serializers.BooleanField()
