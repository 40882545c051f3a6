"""One run: its page, the pieces that follow it live, its files, and its end."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from frontend.access import may_operate, run_seen
from frontend.annotate_access import may_see_failures
from frontend.figures.curve import AXES, curve
from frontend.run_csv import submissions_csv
from frontend.run_page import run_page


def _axis(request: HttpRequest) -> str:
    asked = request.GET.get("x", "")
    return asked if asked in AXES else AXES[0]


def _page(request: HttpRequest, slug: str, template: str) -> HttpResponse:
    page = run_page(run_seen(request, slug))
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
    page = run_page(run_seen(request, slug))
    return JsonResponse(curve(page.run, page.points, page.baseline, _axis(request)))


@require_safe
def run_submissions_csv(request: HttpRequest, slug: str) -> HttpResponse:
    page = run_page(run_seen(request, slug))
    disposition = {"Content-Disposition": f'attachment; filename="{page.run.slug}-submissions.csv"'}
    return HttpResponse(submissions_csv(page), content_type="text/csv; charset=utf-8", headers=disposition)
