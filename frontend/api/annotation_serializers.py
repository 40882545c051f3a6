"""What the annotation API takes."""

from typing import Any

from rest_framework import serializers

from traces.methods.failures import FailureType
from traces.models.annotation import NOTE_MOST

SEQ_MOST = 2**53


class AnnotationCreateSerializer(serializers.Serializer[Any]):
    """One label; `run` is a run's id, `trace` the key of its transcript. No `failure_type`: none of the five."""

    run = serializers.SlugField(max_length=40)
    failure_type = serializers.ChoiceField(
        choices=[each.value for each in FailureType], allow_blank=True, allow_null=True
    )
    note = serializers.CharField(max_length=NOTE_MOST, required=False, default="", allow_blank=True)
    trace = serializers.SlugField(max_length=32, required=False, default=None, allow_null=True)
    first_seq = serializers.IntegerField(min_value=1, max_value=SEQ_MOST, required=False, default=None, allow_null=True)
    last_seq = serializers.IntegerField(min_value=1, max_value=SEQ_MOST, required=False, default=None, allow_null=True)
    critical_seq = serializers.IntegerField(
        min_value=1, max_value=SEQ_MOST, required=False, default=None, allow_null=True
    )
    revises = serializers.IntegerField(min_value=1, max_value=SEQ_MOST, required=False, default=None, allow_null=True)


class LabelsSubmitSerializer(serializers.Serializer[Any]):
    """The run whose labelling by the caller is complete."""

    run = serializers.SlugField(max_length=40)
