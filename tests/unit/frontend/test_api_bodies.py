"""Bodies that the API takes: JSON, and not more of it than the settings say."""

import io

import pytest
from django.test import override_settings
from rest_framework.exceptions import ParseError

from frontend.api.rendering import StrictJSONParser, TooLarge


class Endless(io.BytesIO):
    """A body that goes on for ever."""

    given = 0

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert size >= 0, "read without a limit"
        self.given += size
        return b" " * size


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=10)
def test_a_body_is_read_up_to_the_limit() -> None:
    assert StrictJSONParser().parse(io.BytesIO(b'{"a": 123}')) == {"a": 123}
    endless = Endless()
    with pytest.raises(TooLarge):
        StrictJSONParser().parse(endless)
    assert endless.given == 11
    assert TooLarge.status_code == 413


@pytest.mark.parametrize("body", [b"", b"{", b"NaN", b"\xff", b"[" * 200_000])
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(ParseError):
        StrictJSONParser().parse(io.BytesIO(body))
