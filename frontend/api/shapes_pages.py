"""The envelope of a page, for the schema."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers


def paged(shape: type[serializers.Serializer[Any]]) -> Any:
    """`{next, results}`."""
    name = shape.__name__.removesuffix("Shape")
    fields: dict[str, Any] = {
        "next": serializers.CharField(
            allow_null=True, help_text="The following page's address; null: this is the last."
        ),
        "results": shape(many=True),
    }
    return inline_serializer(f"{name}Page", fields)
