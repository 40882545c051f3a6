"""Starting, repeating and cancelling runs; the cost is told before."""

import secrets

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from frontend.access import operator, operators_only, run_seen
from frontend.forms import RunForm, form_like
from frontend.once import first_time
from frontend.starting import run_stop, runs_start


@operators_only
@require_http_methods(["GET", "HEAD", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    """The form, empty or filled like an earlier run (`?like=`); "Show the cost" only checks it."""
    like = request.GET.get("like", "")
    given: QueryDict | dict[str, object] | None = form_like(run_seen(request, like)) if like else None
    form = RunForm(request.POST if request.method == "POST" else given)
    starts = request.method == "POST" and "check" not in request.POST
    if starts and form.is_valid():
        if not first_time(f"run-form-{operator(request).pk}", request.POST.get("once", "")):
            messages.info(request, "This form has been sent before: its runs wait for a worker, or have begun.")
            return redirect("queue")
        try:
            count = form.cleaned_data["runs"]
            runs = runs_start(values=form.values(), count=count, actor=operator(request), like=like)
            return redirect("run", runs[0].slug) if len(runs) == 1 else _several(request, len(runs))
        except ValidationError as error:
            form.add_error(None, error)
    context = {"form": form, "cost": form.cost(), "like": like, "once": secrets.token_urlsafe(12)}
    return render(request, "frontend/run_new.html", context, status=400 if form.errors and not like else 200)


def _several(request: HttpRequest, count: int) -> HttpResponse:
    messages.info(request, f"{count} runs wait for a worker.")
    return redirect("queue")


@operators_only
@require_safe
def run_cost_piece(request: HttpRequest) -> HttpResponse:
    """The cost of what the form holds now, as a piece of its page."""
    return render(request, "frontend/parts/run_cost.html", {"cost": RunForm(request.GET).cost()})


@operators_only
@require_POST
def run_cancel_view(request: HttpRequest, slug: str) -> HttpResponse:
    run = run_seen(request, slug)
    asked = run_stop(run=run, actor=operator(request))
    messages.info(
        request, "The run is being cancelled." if asked else "The run has ended or is being cancelled already."
    )
    return redirect("run", run.slug)
