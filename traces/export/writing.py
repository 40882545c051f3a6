"""What exports share: reading bodies one after another, and JSON that every parser takes."""

import json
import math
import os
import re
from types import TracebackType
from typing import Any, Self

from benchmark.services.artifacts import artifact_local
from traces.models import Event, Trace
from traces.storage.files import pread

_SURROGATE = re.compile("[\ud800-\udfff]")


class Bodies:
    """Texts and arguments of a trace's events, from one open file."""

    def __init__(self, trace: Trace) -> None:
        self._path = trace.folder / "bodies"

    def __enter__(self) -> Self:
        self._file = os.open(artifact_local(self._path), os.O_RDONLY)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._file)

    def read(self, event: Event) -> tuple[str, Any]:
        data = pread(self._file, event.body_offset, event.text_bytes + event.argument_bytes)
        text = data[: event.text_bytes].decode("utf-8", "surrogatepass")
        arguments = data[event.text_bytes :].decode("utf-8", "surrogatepass")
        return text, json.loads(arguments) if arguments else None


def dumped(value: Any) -> str:
    """JSON with NaN and infinities as text and lone surrogates replaced: RFC 8259, whatever the transcript held."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False)
    return _SURROGATE.sub("\ufffd", text)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value
