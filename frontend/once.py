"""A form that is sent twice, as by a double click, does its work once."""

import logging

from django.core.cache import cache

KEPT_S = 24 * 3600
log = logging.getLogger(__name__)


def first_time(what: str, mark: str) -> bool:
    """Whether the form with this mark comes for the first time; a form without one, or a cache that is away, does."""
    if not mark:
        return True
    try:
        return bool(cache.add(f"{what}-{mark[:64]}".encode().hex(), 1, timeout=KEPT_S))
    except Exception as error:
        log.warning("cannot tell whether a form was sent before: %s", error)
        return True
