"""Keeping secrets out of logs."""

import logging
from collections.abc import Sequence

from benchmark.masking import SHORTEST_SECRET, Masker, mask_text

MASK = "•••"


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
