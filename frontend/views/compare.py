"""Runs side by side: the page, its figure and its files."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from frontend.bad_query import BadQuery, bad_queries_told
from frontend.compare import Comparison, comparison
from frontend.compare_add import addition
from frontend.compare_files import comparison_csv, comparison_latex
from frontend.compare_query import asked_of
from frontend.figures.compare import compare_figure


@require_safe
@bad_queries_told
def compare(request: HttpRequest) -> HttpResponse:
    """`?runs=a,b`; forms may repeat the parameter. `add` looks for a run to add."""
    asked = asked_of(request.GET)
    if len(request.GET.getlist("runs")) > 1:
        return redirect(asked.own)
    text = request.GET.get("add", "").strip()
    found = addition(asked, text, request.user) if text else None
    exact = next((link for run, link in found.found if run.slug == text), "") if found else ""
    if exact:
        return redirect(exact)
    return render(request, "frontend/compare.html", {"page": comparison(asked, request.user), "addition": found})


def _of(request: HttpRequest) -> Comparison:
    """Raises: BadQuery."""
    asked = asked_of(request.GET)
    if not asked.slugs:
        raise BadQuery("runs", "Name the runs to compare, separated by commas.")
    return comparison(asked, request.user)


@require_safe
@bad_queries_told
def compare_curve(request: HttpRequest) -> HttpResponse:
    page = _of(request)
    return JsonResponse(compare_figure(page, page.asked.x))


@require_safe
@bad_queries_told
def compare_csv(request: HttpRequest) -> HttpResponse:
    return _file(comparison_csv(_of(request)), "text/csv", "comparison.csv")


@require_safe
@bad_queries_told
def compare_latex(request: HttpRequest) -> HttpResponse:
    return _file(comparison_latex(_of(request)), "application/x-tex", "comparison.tex")


def _file(text: str, kind: str, name: str) -> HttpResponse:
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=f"{kind}; charset=utf-8", headers=disposition)
