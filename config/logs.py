"""Keeping secrets out of logs."""

import logging
import re

GRADING_URL = re.compile(r"(/grading/)[A-Za-z0-9_-]{30,}")


class RunSecrets(logging.Filter):
    """Masks the secret in a run's grading URL, in messages and in tracebacks."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = GRADING_URL.sub(r"\1•••", record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = GRADING_URL.sub(r"\1•••", record.exc_text)
        return True
