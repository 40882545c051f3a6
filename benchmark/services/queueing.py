"""Sending jobs. A job that cannot be sent now is found in the database by the next sweep."""

import logging

from celery import current_app
from django.db import transaction

log = logging.getLogger(__name__)


def job_send(name: str, *args: int | str) -> bool:
    """Send the job of that dotted name now; False when the broker is down."""
    try:
        current_app.send_task(name, args=args)
    except Exception as error:
        log.warning("could not queue %s%s: %s; the sweep will", name, args, error)
        return False
    return True


def job_send_on_commit(name: str, *args: int | str) -> None:
    """Send once the surrounding transaction is committed."""

    def send() -> None:
        job_send(name, *args)

    transaction.on_commit(send)
