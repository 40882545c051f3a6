"""Websocket URLs."""

from typing import Any, cast

from django.urls import path

from frontend.consumers import RunConsumer

websocket_urlpatterns = [path("ws/runs/<slug:slug>/", cast(Any, RunConsumer.as_asgi()))]
