"""Keeping secrets out of logs."""

import logging
import re
from collections.abc import Sequence

GRADING_URL = re.compile(r"(/grading/)[A-Za-z0-9_-]{30,}")
MASK = "•••"


class RunSecrets(logging.Filter):
    """Masks the secret in a run's grading URL and this deployment's own `keys`, in messages and in tracebacks."""

    def __init__(self, name: str = "", *, keys: Sequence[str] = ()) -> None:
        super().__init__(name)
        self._keys = [key for key in keys if key]

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._masked(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._masked(record.exc_text)
        return True

    def _masked(self, text: str) -> str:
        for key in self._keys:
            text = text.replace(key, MASK)
        return GRADING_URL.sub(rf"\1{MASK}", text)
