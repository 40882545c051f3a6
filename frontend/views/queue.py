"""The queue and its workers."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from benchmark.models import Worker
from benchmark.services.worker_beat import worker_drain
from frontend.access import may_operate, operator, operators_only
from frontend.bad_query import BadQuery, bad_queries_told
from frontend.queue_page import queue_page


@require_safe
@bad_queries_told
def queue(request: HttpRequest) -> HttpResponse:
    for name, value in request.GET.items():
        if (name, value) != ("piece", "1"):
            raise BadQuery(name[:80], "must be left out.")
    template = "frontend/parts/queue_live.html" if request.GET else "frontend/queue.html"
    return render(request, template, {"queue": queue_page(request.user), "may_operate": may_operate(request)})


@operators_only
@require_POST
def worker_drain_view(request: HttpRequest, pk: int) -> HttpResponse:
    """`on=1`: take nothing more; else: go on."""
    worker = get_object_or_404(Worker, pk=pk)
    on = request.POST.get("on") == "1"
    changed = worker_drain(worker=worker, draining=on, actor=operator(request))
    told = "takes nothing more and ends what it holds" if on else "takes work again"
    messages.info(request, f"{worker.name} {told}." if changed else f"{worker.name} was told so before.")
    return redirect("queue")
