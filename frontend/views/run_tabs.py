"""The tabs of a run's page that do not follow it live: routes, artifacts, integrity, configuration; and its records."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from frontend.access import may_operate, run_seen
from frontend.annotate_access import may_see_failures
from frontend.bad_query import BadQuery, bad_queries_told
from frontend.run_artifacts import artifacts_of
from frontend.run_cite import bibtex, plain_citation
from frontend.run_configuration import configuration_of
from frontend.run_integrity import integrity_of
from frontend.run_page import RunPage, run_page
from frontend.run_records import may_read_texts, records_read
from grading.models import Submission

PAGES_MOST = 100_000


def _page(request: HttpRequest, slug: str) -> RunPage:
    """Raises: Http404."""
    return run_page(run_seen(request, slug))


def _rendered(request: HttpRequest, page: RunPage, name: str, title: str, **more: object) -> HttpResponse:
    context = {"page": page, "run": page.run, "may_operate": may_operate(request), "tab_title": title}
    return render(request, f"frontend/run/{name}.html", context | more)


@require_safe
def run_routes(request: HttpRequest, slug: str) -> HttpResponse:
    page = _page(request, slug)
    failures = may_see_failures(request.user, page.run)
    return _rendered(request, page, "routes", "Routes and failures", may_see_failures=failures)


@require_safe
def run_artifacts(request: HttpRequest, slug: str) -> HttpResponse:
    page = _page(request, slug)
    return _rendered(request, page, "artifacts", "Artifacts", artifacts=artifacts_of(page))


@require_safe
def run_integrity(request: HttpRequest, slug: str) -> HttpResponse:
    page = _page(request, slug)
    return _rendered(request, page, "integrity", "Integrity", integrity=integrity_of(page))


@require_safe
def run_configuration(request: HttpRequest, slug: str) -> HttpResponse:
    page = _page(request, slug)
    told = {"bibtex": bibtex(page), "citation": plain_citation(page)}
    return _rendered(request, page, "configuration", "Configuration", configuration=configuration_of(page), **told)


@require_safe
@bad_queries_told
def run_records(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """The graded items of one submission; their texts for operators and researchers alone."""
    run = run_seen(request, slug)
    submission = Submission.objects.filter(run=run, number=number).select_related("verdict").first()
    if submission is None:
        raise Http404(f"Run {slug} has no submission {number}.")
    text = request.GET.get("page", "1")
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9] or 0) <= PAGES_MOST and len(text) < 10):
        raise BadQuery("page", f"“{text[:40]}” is no page: a number from 1.")
    texts = may_read_texts(request.user)
    records = records_read(submission.verdict, int(text), texts=texts)
    context = {"run": run, "submission": submission, "records": records, "texts": texts}
    return render(request, "frontend/run/records.html", context)
