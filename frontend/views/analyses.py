"""Analyses: the index, a page each, and what can be taken away."""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from frontend.analyses import Analysis, Asked, Kind, analyses
from frontend.analyses.asking import FORM, asked_of, choices_of, filter_text, query_of
from frontend.analyses.files import analysis_csv, analysis_latex
from frontend.bad_query import bad_queries_told
from frontend.board.options import options_of


def _kind(name: str) -> Kind:
    """Raises: Http404."""
    kind = analyses().get(name)
    if kind is None:
        raise Http404(f"There is no analysis {name}.")
    return kind


def _built(request: HttpRequest, name: str) -> tuple[Kind, Asked, Analysis]:
    """Raises: Http404, BadQuery."""
    kind = _kind(name)
    asked = asked_of(request, kind)
    return kind, asked, kind.build(asked)


@require_safe
@bad_queries_told
def analyses_index(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/analyses/index.html", {"kinds": list(analyses().values())})


@require_safe
@bad_queries_told
def analysis_page(request: HttpRequest, name: str) -> HttpResponse:
    kind, asked, analysis = _built(request, name)
    options = options_of(asked.filters)
    context = {"kind": kind, "kinds": list(analyses().values()), "asked": asked, "analysis": analysis}
    context |= {"query": query_of(asked, kind), "used": filter_text(asked), "choices": choices_of(asked, kind)}
    return render(request, "frontend/analyses/page.html", context | {"options": [options[each] for each in FORM]})


@require_safe
@bad_queries_told
def analysis_figure(request: HttpRequest, name: str) -> HttpResponse:
    figure = _built(request, name)[2].figure
    if figure is None:
        raise Http404("This analysis has no figure for this filter.")
    return JsonResponse(figure)


@require_safe
@bad_queries_told
def analysis_file(request: HttpRequest, name: str, ending: str) -> HttpResponse:
    """`csv` or `tex`."""
    kind, asked, analysis = _built(request, name)
    text = analysis_csv(analysis) if ending == "csv" else analysis_latex(analysis, filter_text(asked))
    disposition = {"Content-Disposition": f'attachment; filename="{kind.id}.{ending}"'}
    form = "text/csv" if ending == "csv" else "application/x-tex"
    return HttpResponse(text, content_type=f"{form}; charset=utf-8", headers=disposition)
