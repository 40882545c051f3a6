"""The tabs of a run's page that do not follow it live: routes, artifacts, integrity, configuration; and its records."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from frontend.access import may_operate, operator, operators_only, run_seen
from frontend.annotate_access import may_see_failures
from frontend.bad_query import BadQuery, bad_queries_told
from frontend.run_artifacts import artifacts_of
from frontend.run_cite import bibtex, plain_citation
from frontend.run_configuration import configuration_of
from frontend.run_integrity import integrity_of
from frontend.run_page import RunPage
from frontend.run_records import may_read_texts, records_read
from frontend.run_repeats import gradings_of
from frontend.run_task import run_page_read
from grading.models import Submission
from grading.services.repeating import evaluation_repeat

PAGES_MOST = 100_000


def _rendered(request: HttpRequest, page: RunPage, name: str, title: str, **more: object) -> HttpResponse:
    context = {"page": page, "run": page.run, "may_operate": may_operate(request), "tab_title": title}
    return render(request, f"frontend/run/{name}.html", context | more)


@require_safe
@bad_queries_told
def run_routes(request: HttpRequest, slug: str) -> HttpResponse:
    page = run_page_read(request, slug)
    failures = may_see_failures(request.user, page.run)
    return _rendered(request, page, "routes", "Routes and failures", may_see_failures=failures)


@require_safe
@bad_queries_told
def run_artifacts(request: HttpRequest, slug: str) -> HttpResponse:
    page = run_page_read(request, slug)
    return _rendered(request, page, "artifacts", "Artifacts", artifacts=artifacts_of(page))


@require_safe
@bad_queries_told
def run_integrity(request: HttpRequest, slug: str) -> HttpResponse:
    page = run_page_read(request, slug)
    return _rendered(request, page, "integrity", "Integrity", integrity=integrity_of(page))


@require_safe
@bad_queries_told
def run_configuration(request: HttpRequest, slug: str) -> HttpResponse:
    page = run_page_read(request, slug)
    told = {"bibtex": bibtex(page), "citation": plain_citation(page)}
    return _rendered(request, page, "configuration", "Configuration", configuration=configuration_of(page), **told)


@require_safe
@bad_queries_told
def run_records(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """The graded items of one submission; their texts for operators and researchers alone."""
    submission = _submission(request, slug, number)
    text = request.GET.get("page", "1")
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9] or 0) <= PAGES_MOST and len(text) < 10):
        raise BadQuery("page", f"“{text[:40]}” is no page: a number from 1.")
    texts = may_read_texts(request.user)
    records = records_read(submission.verdict, int(text), texts=texts)
    context = {"run": submission.run, "submission": submission, "records": records, "texts": texts}
    context |= {"gradings": gradings_of(submission), "may_operate": may_operate(request)}
    return render(request, "frontend/run/records.html", context)


@operators_only
@require_POST
def run_repeat(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Grade one submission's files again, `times` times."""
    submission = _submission(request, slug, number)
    text = request.POST.get("times", "")
    times = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0
    try:
        if submission.evaluation is None:
            raise ValidationError({"times": "This submission was not graded here."})
        evaluation_repeat(evaluation=submission.evaluation, times=times, actor=operator(request))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.info(request, "The checkpoint is graded again once a worker is free; the score that counts stays.")
    return redirect("run-records", slug, number)


def _submission(request: HttpRequest, slug: str, number: int) -> Submission:
    """Raises: Http404."""
    run = run_seen(request, slug)
    rows = Submission.objects.filter(run=run, number=number)
    submission = rows.select_related("run", "verdict", "evaluation__verdict").first()
    if submission is None:
        raise Http404(f"Run {slug} has no submission {number}.")
    return submission
