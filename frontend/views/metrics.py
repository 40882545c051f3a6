"""For machines that keep watch: whether this server works, and what it has to do."""

from secrets import compare_digest

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from frontend.access import may_operate
from frontend.operating_metrics import Platform

PLAIN = "text/plain; charset=utf-8"


@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """200 while this process reaches the database, else 503; says nothing else."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return HttpResponse("The database cannot be reached.\n", status=503, content_type=PLAIN)
    return HttpResponse("ok\n", content_type=PLAIN)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """For the holder of AGENT2_METRICS_TOKEN and for operators; others are told that there is nothing here."""
    if not (_shows_the_token(request) or may_operate(request)):
        return HttpResponse("There is no such page.\n", status=404, content_type=PLAIN)
    registry = CollectorRegistry()
    registry.register(Platform())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _shows_the_token(request: HttpRequest) -> bool:
    shown = request.headers.get("Authorization", "")
    wanted = f"Bearer {settings.METRICS_TOKEN}"
    return bool(settings.METRICS_TOKEN) and compare_digest(shown.encode(), wanted.encode())
