"""How often one person or one address may ask: a counter a minute in the cache."""

import logging
import time
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

if TYPE_CHECKING:  # the other way round it is a circle
    from rest_framework.views import APIView

WINDOW_S = 60
log = logging.getLogger(__name__)


class PerMinute(BaseThrottle):
    """Signed-in people by account, all others by address. Without Redis each web process counts for itself.

    A cache that is away throttles nobody.
    """

    def allow_request(self, request: Request, view: "APIView") -> bool:
        known = bool(request.user and request.user.is_authenticated)
        most = settings.API_PER_MINUTE_USER if known else settings.API_PER_MINUTE_ANONYMOUS
        who = f"u{request.user.pk}" if known else f"a{request.META.get('REMOTE_ADDR', '')}"
        return not most or counted(f"api-{who}") <= most

    def wait(self) -> float:
        """Seconds until the next window."""
        return WINDOW_S - time.time() % WINDOW_S


def counted(what: str) -> int:
    """How often it was counted in this minute, this time included; 0 when the cache is away."""
    key = f"{what}-{int(time.time()) // WINDOW_S}".replace(" ", "")
    try:
        if cache.add(key, 1, timeout=2 * WINDOW_S):
            return 1
        return cache.incr(key)
    except Exception as error:
        log.warning("cannot count %s: %s", what, error)
        return 0
