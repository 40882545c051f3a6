"""One run: its page, the pieces that follow it live, its files, and its end."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from benchmark.models import Run
from benchmark.services.runs import run_cancel
from frontend.access import may_operate, operators_only
from frontend.annotate_access import may_see_failures
from frontend.figures.curve import AXES, curve
from frontend.run_csv import submissions_csv
from frontend.run_page import run_page


def _axis(request: HttpRequest) -> str:
    asked = request.GET.get("x", "")
    return asked if asked in AXES else AXES[0]


def _page(request: HttpRequest, slug: str, template: str) -> HttpResponse:
    page = run_page(get_object_or_404(Run.objects.select_related("created_by"), slug=slug))
    context = {"page": page, "run": page.run, "x": _axis(request), "may_operate": may_operate(request)}
    return render(request, template, context | {"may_see_failures": may_see_failures(request.user, page.run)})


@require_safe
def run_detail(request: HttpRequest, slug: str) -> HttpResponse:
    return _page(request, slug, "frontend/run.html")


@require_safe
def run_fragment(request: HttpRequest, slug: str) -> HttpResponse:
    """What changes while a run goes on; the page swaps its parts by their ids."""
    return _page(request, slug, "frontend/parts/run_live.html")


@require_safe
def run_curve(request: HttpRequest, slug: str) -> HttpResponse:
    page = run_page(get_object_or_404(Run, slug=slug))
    return JsonResponse(curve(page.run, page.points, page.baseline, _axis(request)))


@require_safe
def run_submissions_csv(request: HttpRequest, slug: str) -> HttpResponse:
    page = run_page(get_object_or_404(Run, slug=slug))
    disposition = {"Content-Disposition": f'attachment; filename="{page.run.slug}-submissions.csv"'}
    return HttpResponse(submissions_csv(page), content_type="text/csv; charset=utf-8", headers=disposition)


@operators_only
@require_POST
def run_cancel_view(request: HttpRequest, slug: str) -> HttpResponse:
    run = get_object_or_404(Run, slug=slug)
    asked = run_cancel(run)
    messages.info(
        request, "The run is being cancelled." if asked else "The run has ended or is being cancelled already."
    )
    return redirect("run", run.slug)
