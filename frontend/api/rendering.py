"""JSON in and out, such that no body and no stored number can break an answer."""

import json
import math
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from django.conf import settings
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer


class TooLarge(APIException):
    """The body is longer than what any endpoint takes."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE


class StrictJSONParser(BaseParser):
    """UTF-8 JSON. Raises: ParseError: anything else, however deep or odd, halves of characters too; TooLarge."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(most + 1)
        if len(body) > most:
            raise TooLarge(f"A body may have at most {most} bytes.")
        try:
            given = json.loads(body.decode("utf-8"), parse_constant=_refused, parse_float=_finite)
            json.dumps(given, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise ParseError(f"This is not JSON: {type(error).__name__}.") from None
        return given


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    """A number that floats cannot hold would come back as infinity."""
    value = float(text)
    return value if math.isfinite(value) else _refused(text)


class FiniteJSONRenderer(JSONRenderer):
    """A number that is not finite is null, as what is not scored; half a character is a question mark."""

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            return super().render(data, accepted_media_type, renderer_context)
        except ValueError:
            return super().render(finite(data), accepted_media_type, renderer_context)


def finite(value: Any) -> Any:
    """The same with None in place of NaN and infinities, and text that UTF-8 has."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {finite(key): finite(each) for key, each in value.items()}
    return [finite(each) for each in value] if isinstance(value, list | tuple) else value
