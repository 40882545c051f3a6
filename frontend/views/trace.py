"""The trace explorer: its page, and the rows, matches and places that its scripts ask for."""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from frontend.access import run_seen
from frontend.annotate_page import annotate_side
from frontend.figures.trace_strip import strip
from frontend.trace_events import OPENING, Window, chosen, count_of, window_after, window_around, window_before
from frontend.trace_marks import Mark, marks_of
from frontend.trace_outline import outline_of
from frontend.trace_page import TracePage, start_of, trace_page
from frontend.trace_places import NOWHERE, linked, wanted
from frontend.trace_rows import rows_of
from frontend.trace_search import found
from frontend.trace_tail import renewed
from frontend.views.trace_event import AWAY, number_in
from grading.selectors import run_on_task
from grading.services.records import run_account
from traces.models import Trace

MODULES = [f"frontend/js/trace_{name}.js" for name in ("fold", "keys", "list", "live", "source", "strip", "words")]
"""Fetched beside the script that imports them, not after it."""
NAMED = 60
"""Rows that may be asked for by their numbers at once."""
QUERY = 200
"""Characters that are searched for."""


def _page(request: HttpRequest, slug: str) -> TracePage:
    run = run_seen(request, slug)
    filters = chosen(request.GET.getlist("kind"))
    words, asked = request.GET.get("q", "").strip()[:QUERY], request.GET.dict()
    return trace_page(run, asked.get("trace", ""), filters, words, asked.get("task", ""))


def _shown(request: HttpRequest, slug: str) -> tuple[TracePage, Trace]:
    page = _page(request, slug)
    if page.trace is None:
        raise Http404("This run has no trace.")
    return page, page.trace


def _rows_html(page: TracePage, trace: Trace, seqs: list[int]) -> str:
    rows = rows_of(trace, seqs, start_of(trace)) if seqs else []
    return render_to_string("frontend/parts/trace_rows.html", {"rows": rows, "page": page, "run": page.run})


@require_safe
def trace(request: HttpRequest, slug: str) -> HttpResponse:
    page = _page(request, slug)
    context = {
        "page": page,
        "run": page.run,
        "modules": MODULES,
        "target": None,
        "problem": "",
        "to": request.GET.get("to", ""),
    }
    if page.trace is None or page.empty:
        return render(request, "frontend/trace.html", context)
    target = linked(page.trace, request.GET.dict())
    if context["to"]:
        start = start_of(page.trace)
        marks = marks_of(page.trace, start) if str(context["to"]).startswith("#") else {}
        target = wanted(page.trace, str(context["to"]), marks, start)
        context["problem"] = "" if target else NOWHERE
    try:
        window = _opening(page, page.trace, target)
        context |= {"rows": rows_of(page.trace, window.seqs, start_of(page.trace)), "window": window, "target": target}
        context |= annotate_side(request.user, page.run, page.trace)
    except OSError:
        context["problem"] = AWAY
    return render(request, "frontend/trace.html", context)


def _opening(page: TracePage, shown: Trace, target: int | None) -> Window:
    """The place asked for, what was searched for, the end of what still grows, or the beginning."""
    if target is not None:
        return window_around(shown, page.filters, target, OPENING)
    if page.q:
        hits = found(shown, page.q, page.filters, 0, OPENING)
        return Window([seq for seq, _ in hits.hits][:OPENING], False, hits.more)
    if page.reading:
        return window_before(shown, page.filters, shown.event_count + 1, OPENING)
    return window_after(shown, page.filters, 0, OPENING)


@require_safe
def trace_rows(request: HttpRequest, slug: str) -> HttpResponse:
    """Rows after, before or around an event, or the named ones; and where the list goes on."""
    page, shown = _shown(request, slug)
    after, before, around = (number_in(request, name) for name in ("after", "before", "around"))
    if "seqs" in request.GET:
        window = Window(
            [
                int(seq)
                for seq in request.GET["seqs"].split(",")[:60]
                if seq.isascii() and seq.isdigit() and len(seq) < 16
            ],
            True,
            True,
        )
    elif around is not None:
        window = window_around(shown, page.filters, max(1, around))
    elif before is not None:
        window = window_before(shown, page.filters, before)
    else:
        window = window_after(shown, page.filters, after or 0)
    try:
        html = _rows_html(page, shown, list(window.seqs))
        fresh = _rows_html(page, shown, renewed(shown, after, number_in(request, "seen")))
    except OSError:
        return JsonResponse({"error": AWAY}, status=503)
    answer = {"html": html, "renewed": fresh, "before": window.more_before, "after": window.more_after}
    state = {"outside": window.outside, "events": shown.event_count, "reading": page.reading}
    return JsonResponse(answer | state)


@require_safe
def trace_search(request: HttpRequest, slug: str) -> HttpResponse:
    """Numbers of matching events with text around each match; without words, only how many pass the filters."""
    page, shown = _shown(request, slug)
    if not page.q:
        count = count_of(shown, page.filters)
        return JsonResponse({"count": count, "events": shown.event_count, "reading": page.reading})
    try:
        hits = found(shown, page.q, page.filters, number_in(request, "after") or 0)
    except OSError:
        return JsonResponse({"error": AWAY}, status=503)
    return JsonResponse({"hits": hits.hits, "more": hits.more, "through": hits.through, "events": shown.event_count})


@require_safe
def trace_place(request: HttpRequest, slug: str) -> HttpResponse:
    """The event that a person's words name."""
    _, shown = _shown(request, slug)
    text, start = request.GET.get("to", "")[:QUERY], start_of(shown)
    marks: dict[int, Mark] = marks_of(shown, start) if text.strip().startswith("#") else {}
    seq = wanted(shown, text, marks, start)
    return JsonResponse({"seq": seq} if seq else {"error": NOWHERE}, status=200 if seq else 404)


@require_safe
def trace_outline(request: HttpRequest, slug: str) -> HttpResponse:
    """The curve, and the outline beside the list."""
    page, shown = _shown(request, slug)
    of_task = run_on_task(page.run, page.task) if page.task else None
    start, record = start_of(shown), run_account(page.run, shown=of_task).record
    marks = marks_of(shown, start, record.switches, only=of_task.submissions if of_task else None)
    last = shown.last_at or page.run.ended_at
    seconds = (last - start).total_seconds() if start and last else page.run.elapsed_s() if start else None
    changes = [mark.switch for mark in marks.values() if mark.switch]
    figure = strip(list(marks.values()), changes, baseline=record.baseline, seconds=seconds, events=shown.event_count)
    phases = outline_of(shown, marks, start)
    context = {"page": page, "run": page.run, "strip": figure, "phases": phases, "marks": marks}
    return render(request, "frontend/parts/trace_outline.html", context)
