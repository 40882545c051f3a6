"""The list of runs, and starting one."""

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmark.services.runs import run_create
from frontend.access import may_operate, operator, operators_only
from frontend.forms import RunForm
from frontend.run_list import RunFilter, active_runs, run_page_of


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    chosen = RunFilter.from_query(request.GET)
    context = {
        "chosen": chosen,
        "page": run_page_of(chosen, request.GET.get("page")),
        "may_operate": may_operate(request),
    }
    return render(request, "frontend/run_list.html", context)


@require_safe
def runs_active(request: HttpRequest) -> HttpResponse:
    """The runs in progress, as a piece of the first page."""
    return render(request, "frontend/parts/active.html", {"active": active_runs()})


@operators_only
@require_http_methods(["GET", "HEAD", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    form = RunForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("run", run_create(**form.values(), created_by=operator(request)).slug)
        except ValidationError as error:
            form.add_error(None, error)
    return render(request, "frontend/run_new.html", {"form": form}, status=400 if form.errors else 200)
