"""HTTP and websockets."""

import os
import sys

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Requests must not wait 5 ms (the default) for threads that compute.
sys.setswitchinterval(0.0005)
http = get_asgi_application()

from frontend.routing import websocket_urlpatterns  # noqa: E402  (needs the application registry)

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
