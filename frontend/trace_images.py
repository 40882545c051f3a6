"""Images in a transcript: served as what their bytes are, never as text and never as anything but an image."""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any

from traces.models import Event
from traces.selectors import body, source

SIGNATURES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
LARGEST = 32 << 20
"""Bytes of a record that is searched for its images."""
IN_TEXT = re.compile(r"data:image/[a-z.+-]{1,20};base64,([A-Za-z0-9+/=\s]{16,})")
MOST = 8
"""Images shown with one event."""


class NoImage(Exception):
    """There is no such image, or its bytes are none that a browser may be given."""


def image_count(event: Event) -> int:
    """How many thumbnails an event has."""
    told = event.detail.get("images") if isinstance(event.detail, dict) else None
    count = sum(isinstance(one, dict) and bool(one.get("bytes")) for one in told) if isinstance(told, list) else 0
    if not count and "data:image/" in event.preview:
        count = 1
    return min(count, MOST)


def image_read(event: Event, number: int) -> tuple[str, bytes]:
    """Media type and bytes of an event's image, from 0. Raises: NoImage; OSError."""
    if event.length > LARGEST or event.text_bytes > LARGEST:
        raise NoImage("The record is too large to be searched for images.")
    for at, data in enumerate(_encoded(event)):
        if at == number:
            return _decoded(data)
    raise NoImage("There is no such image.")


def _encoded(event: Event) -> Iterator[str]:
    try:
        record = json.loads(source(event))
    except (ValueError, RecursionError):
        record = None
    own = _answer(record, event.call_id) if event.call_id else None
    found = list(_data(own if own is not None else record))
    yield from found
    if not found:
        yield from (match[1] for match in IN_TEXT.finditer(body(event).text))


def _answer(value: Any, call_id: str, depth: int = 0) -> Any:
    """The part of a record that names the call: one record may hold the results of several."""
    if depth > 40:
        return None
    if isinstance(value, dict):
        if call_id in (value.get(name) for name in ("tool_use_id", "tool_call_id", "call_id", "source_call_id")):
            return value
        value = list(value.values())
    if isinstance(value, list):
        return next((found for item in value if (found := _answer(item, call_id, depth + 1)) is not None), None)
    return None


def _data(value: Any, depth: int = 0) -> Iterator[str]:
    """Base64 of every image, in order."""
    if depth > 40:
        return
    if isinstance(value, dict):
        url = value.get("url") or value.get("image_url")
        if isinstance(url, str) and url.startswith("data:image/"):
            yield url.partition(",")[2]
            return
        if isinstance(value.get("data"), str) and str(value.get("media_type") or value.get("mimeType")).startswith(
            "image/"
        ):
            yield value["data"]
            return
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _data(item, depth + 1)


def _decoded(data: str) -> tuple[str, bytes]:
    try:
        raw = base64.b64decode(re.sub(r"\s", "", data), validate=True)
    except (binascii.Error, ValueError) as error:
        raise NoImage("The image is damaged.") from error
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "image/webp", raw
    media = next((media for signature, media in SIGNATURES if raw.startswith(signature)), None)
    if media is None:
        raise NoImage("Only PNG, JPEG, GIF and WebP are shown.")
    return media, raw
