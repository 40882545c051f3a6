"""The log, for people or for machines: what a record says cannot pass for another record, and no secret is in it."""

import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from benchmark.log_context import log_fields
from benchmark.masking import SHORTEST_SECRET, Masker, mask_text

MASK = "•••"
QUIET = ("celery.worker.strategy", "celery.app.trace", "celery.beat", "httpx", "uvicorn.access")
SILENT = ("django.security.TooManyFieldsSent", "django.security.DisallowedHost", "django.security.RequestDataTooBig")
"""Anybody can send these; the refusal is logged once more, in one line without a traceback."""
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0))}


def logging_of(level: str, form: str, *, keys: Sequence[str]) -> dict[str, Any]:
    """Django's LOGGING: everything to standard error, as `line` or `json`, with `keys` masked."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": "config.logs.Lines"}, "json": {"()": "config.logs.JsonLines"}},
        "filters": {"secrets": {"()": "config.logs.RunSecrets", "keys": list(keys)}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": form, "filters": ["secrets"]}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {name: {"level": "WARNING"} for name in QUIET} | {name: {"level": "CRITICAL"} for name in SILENT},
    }


class RunSecrets(logging.Filter):
    """Masks what looks like a secret and this deployment's own `keys`, in messages and in tracebacks."""

    def __init__(self, name: str = "", *, keys: Sequence[str] = ()) -> None:
        super().__init__(name)
        self._masker = Masker(key for key in keys if len(key) >= SHORTEST_SECRET)
        self._short = [key for key in keys if 0 < len(key) < SHORTEST_SECRET]

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._masked(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._masked(record.exc_text)
        return True

    def _masked(self, text: str) -> str:
        for key in self._short:
            text = text.replace(key, MASK)
        return mask_text(text, self._masker)


class Lines(logging.Formatter):
    """For people: what the record is about stands at its end; further lines of it are indented."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the base class's
        record.message = record.message.translate(CONTROLS).replace("\n", "\n    ")
        about = " ".join(f"{name}={value}" for name, value in log_fields().items())
        return super().formatMessage(record) + (f" [{about}]" if about else "")


class JsonLines(logging.Formatter):
    """For machines: one JSON object a line, with the run's id where the work belongs to a run."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, str | int] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process or 0,
            **log_fields(),
        }
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            told["traceback"] = record.exc_text
        return json.dumps(told, ensure_ascii=False)
