"""HTTP and websockets."""

import gc
import os
import sys
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.exceptions import ImproperlyConfigured
from django.core.handlers.asgi import ASGIHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Requests must not wait 5 ms (the default) for threads that compute.
sys.setswitchinterval(0.0005)
try:
    pages = get_asgi_application()
except ImproperlyConfigured as error:
    sys.exit(str(error))

from config.bodies import bounded  # noqa: E402
from frontend.bundle_stream import StreamingHandler  # noqa: E402
from frontend.routing import websocket_urlpatterns  # noqa: E402  (needs the application registry)


class AgentsHandler(ASGIHandler):
    """Django without middleware, for agents: a token in the path, no session, no cookies, no forms.

    Each of the middlewares that pages need would change threads twice.
    """

    def load_middleware(self, is_async: bool = False) -> None:
        configured, settings.MIDDLEWARE = settings.MIDDLEWARE, []
        try:
            super().load_middleware(is_async)
        finally:
            settings.MIDDLEWARE = configured


pages = bounded(pages)
agents = bounded(AgentsHandler())
uploads = StreamingHandler()


async def http(scope: Any, receive: Any, send: Any) -> None:
    """The grading API and the bytes of uploads have handlers of their own."""
    if scope["path"].startswith("/grading/"):
        handler: Any = agents
    elif scope["path"].startswith("/bundles/upload/") and scope["method"] in ("PATCH", "POST"):
        handler = uploads
    else:
        handler = pages
    await handler(scope, receive, send)


application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)

# What was imported stays for good: looking through it again at every collection cost some requests 100 ms.
gc.collect()
gc.freeze()
gc.set_threshold(50_000, 20, 100)
