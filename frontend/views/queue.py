"""The queue and its workers."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from frontend.access import may_operate
from frontend.queue_page import queue_page


@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    piece = request.GET.get("piece") == "1"
    template = "frontend/parts/queue_live.html" if piece else "frontend/queue.html"
    return render(request, template, {"queue": queue_page(), "may_operate": may_operate(request)})
