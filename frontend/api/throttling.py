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
        who = f"u{request.user.pk}" if known else f"a{self.get_ident(request)[:80]}"
        try:
            return not most or _count(f"api-{who}-{int(time.time()) // WINDOW_S}".replace(" ", "")) <= most
        except Exception as error:
            log.warning("the API's throttle cannot count: %s", error)
            return True

    def wait(self) -> float:
        """Seconds until the next window."""
        return WINDOW_S - time.time() % WINDOW_S


def _count(key: str) -> int:
    if cache.add(key, 1, timeout=2 * WINDOW_S):
        return 1
    try:
        return cache.incr(key)
    except ValueError:  # it expired between the two
        return 1
