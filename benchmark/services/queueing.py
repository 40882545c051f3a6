"""Sending jobs. A job that cannot be sent now is found in the database by the next sweep."""

import logging

from celery import current_app
from django.db import transaction

log = logging.getLogger(__name__)


def place_queue(place: str) -> str:
    """The queue of what only workers with that disk can do."""
    return f"default.{place}" if place else "default"


def job_send(name: str, *args: int | str, place: str | None = None) -> bool:
    """Send the job of that dotted name now; False when the broker is down. `place`: only workers with that disk."""
    try:
        if place is None:
            current_app.send_task(name, args=args)
        else:
            current_app.send_task(name, args=args, queue=place_queue(place))
    except Exception as error:
        log.warning("could not queue %s%s: %s; the sweep will", name, args, error)
        return False
    return True


def job_send_on_commit(name: str, *args: int | str, place: str | None = None) -> None:
    """Send once the surrounding transaction is committed."""

    def send() -> None:
        job_send(name, *args, place=place)

    transaction.on_commit(send)
