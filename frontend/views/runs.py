"""The list of runs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from frontend.access import may_operate
from frontend.bad_query import bad_queries_told
from frontend.run_list import active_runs, run_list_of


@require_safe
@bad_queries_told
def run_list(request: HttpRequest) -> HttpResponse:
    context = {"page": run_list_of(request.GET, request.user), "may_operate": may_operate(request)}
    return render(request, "frontend/run_list.html", context)


@require_safe
def runs_active(request: HttpRequest) -> HttpResponse:
    """The runs in progress, as a piece of the first page."""
    return render(request, "frontend/parts/active.html", {"active": active_runs()})
