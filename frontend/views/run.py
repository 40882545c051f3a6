"""One run: its overview, curve and submissions, the pieces that follow it live, and its files."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from frontend.access import may_operate
from frontend.annotate_access import may_see_failures
from frontend.bad_query import BadQuery, bad_queries_told
from frontend.figures.curve import AXES, curve
from frontend.run_csv import submissions_csv
from frontend.run_page import RunPage
from frontend.run_submissions import listing
from frontend.run_task import run_page_read

PIECES = {"curve": "run-curve-tab", "submissions": "run-submissions"}


def _axis(request: HttpRequest) -> str:
    asked = request.GET.get("x", "")
    return asked if asked in AXES else AXES[0]


def _context(request: HttpRequest, page: RunPage) -> dict[str, object]:
    context = {"page": page, "run": page.run, "x": _axis(request), "may_operate": may_operate(request)}
    return context | {"may_see_failures": may_see_failures(request.user, page.run)}


def _page(request: HttpRequest, slug: str, template: str, **more: object) -> HttpResponse:
    return render(request, template, _context(request, run_page_read(request, slug)) | more)


@require_safe
@bad_queries_told
def run_detail(request: HttpRequest, slug: str) -> HttpResponse:
    return _page(request, slug, "frontend/run.html")


@require_safe
@bad_queries_told
def run_fragment(request: HttpRequest, slug: str) -> HttpResponse:
    """What changes while a run goes on; the page swaps its parts by their ids."""
    return _page(request, slug, "frontend/parts/run_live.html")


@require_safe
@bad_queries_told
def run_curve_tab(request: HttpRequest, slug: str) -> HttpResponse:
    return _page(request, slug, "frontend/run/curve.html", piece="curve")


@require_safe
@bad_queries_told
def run_submissions(request: HttpRequest, slug: str) -> HttpResponse:
    """`?page=2`: older ones. `?a=1&b=3`: what changed in the code between two."""
    return _submissions(request, slug, "frontend/run/submissions.html")


def _submissions(request: HttpRequest, slug: str, template: str) -> HttpResponse:
    """Raises: BadQuery, Http404."""
    page = run_page_read(request, slug)
    shown = listing(page, request.GET)
    return render(request, template, _context(request, page) | {"piece": "submissions", "listing": shown})


@require_safe
@bad_queries_told
def run_piece(request: HttpRequest, slug: str, piece: str) -> HttpResponse:
    """What changes on the tab `piece` while a run goes on."""
    if piece not in PIECES:
        raise BadQuery("piece", f"is one of {', '.join(PIECES)}.")
    template, tab = f"frontend/run/{piece}_live.html", PIECES[piece]
    if piece == "submissions":
        page = run_page_read(request, slug)
        more = {"piece_of": tab, "piece": piece, "listing": listing(page, request.GET)}
        return render(request, template, _context(request, page) | more)
    return _page(request, slug, template, piece_of=tab, piece=piece)


@require_safe
@bad_queries_told
def run_curve(request: HttpRequest, slug: str) -> HttpResponse:
    page = run_page_read(request, slug)
    return JsonResponse(curve(page.run, page.points, page.baseline, _axis(request), page.method_marks))


@require_safe
@bad_queries_told
def run_submissions_csv(request: HttpRequest, slug: str) -> HttpResponse:
    page = run_page_read(request, slug)
    disposition = {"Content-Disposition": f'attachment; filename="{page.run.slug}-submissions.csv"'}
    return HttpResponse(submissions_csv(page), content_type="text/csv; charset=utf-8", headers=disposition)
