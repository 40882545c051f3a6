"""Headers every page carries, static files, both without leaving the event loop for other requests; and what is said
while the object storage cannot be asked."""

import logging
from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import cast

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin
from whitenoise.middleware import WhiteNoiseMiddleware

from benchmark.artifacts.contract import StorageUnavailable
from frontend.static_files import static_collect

log = logging.getLogger(__name__)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
Sync = Callable[[HttpRequest], HttpResponse]
Async = Callable[[HttpRequest], Awaitable[HttpResponse]]


def _with_policy(response: HttpResponse) -> HttpResponse:
    response.headers.setdefault("Content-Security-Policy", POLICY)
    return response


@sync_and_async_middleware
def content_security_policy(get_response: Sync | Async) -> Sync | Async:
    """A strict Content-Security-Policy: nothing inline, nothing from elsewhere."""
    if iscoroutinefunction(get_response):

        async def later(request: HttpRequest) -> HttpResponse:
            return _with_policy(await cast(Async, get_response)(request))

        return later

    def now(request: HttpRequest) -> HttpResponse:
        return _with_policy(cast(Sync, get_response)(request))

    return now


@sync_and_async_middleware
def static_files(get_response: Sync | Async) -> Sync | Async:
    """WhiteNoise, which is synchronous, for paths below STATIC_URL only."""
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    if iscoroutinefunction(get_response):
        if settings.COLLECT_STATIC:
            static_collect()
        files = sync_to_async(WhiteNoiseMiddleware(_not_found))

        async def later(request: HttpRequest) -> HttpResponse:
            if request.path.startswith(settings.STATIC_URL):
                return cast(HttpResponse, await files(request))
            return await cast(Async, get_response)(request)

        return later
    return cast(Sync, WhiteNoiseMiddleware(get_response))


def _not_found(_: HttpRequest) -> HttpResponse:
    return HttpResponse("There is no such file.", status=404, content_type="text/plain")


class ObjectStorageAway(MiddlewareMixin):
    """What lies in object storage alone cannot be shown while that is away: 503, and nothing is lost."""

    WHY = "It lies in the object storage, which cannot be reached now. Nothing is lost; try again in a minute."

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, StorageUnavailable):
            return None
        log.warning("%s: %s", request.path, exception)
        if "text/html" in request.headers.get("Accept", ""):
            answer = render(request, "503.html", {"why": self.WHY}, status=503)
        else:
            answer = JsonResponse({"detail": self.WHY, "error": self.WHY}, status=503)
        answer["Retry-After"] = "60"
        return answer
