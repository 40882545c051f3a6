"""What can be taken from a run: its transcripts and its citation. Its bundle is among the bundles' files."""

from collections.abc import AsyncIterator, Callable, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from frontend.access import run_seen
from frontend.run_cite import bibtex
from frontend.run_page import run_page
from traces.export.atif import atif
from traces.export.jsonl import jsonl
from traces.models import Trace

PIECE = 1 << 18
"""Characters that are sent at once."""
FORMATS: dict[str, tuple[Callable[[Trace], Iterator[str]], str]] = {
    "jsonl": (jsonl, "application/x-ndjson"),
    "atif.json": (atif, "application/json"),
}


@require_safe
def run_trace_file(request: HttpRequest, slug: str, key: str, form: str) -> HttpResponseBase:
    """One whole transcript as JSON lines or as ATIF. Memory is a piece of it."""
    trace = get_object_or_404(Trace.objects.select_related("run"), run=run_seen(request, slug), key=key)
    write, kind = FORMATS[form]
    pieces = _pieces(write(trace))
    try:
        first = next(pieces, "")
    except OSError:
        return HttpResponse("The transcript’s files are not on this machine.", status=503, content_type="text/plain")
    disposition = {"Content-Disposition": f'attachment; filename="{slug}-{trace.pk}.{form}"'}
    body = _later(first, pieces) if isinstance(request, ASGIRequest) else _now(first, pieces)
    return StreamingHttpResponse(body, content_type=f"{kind}; charset=utf-8", headers=disposition)


def _pieces(lines: Iterator[str]) -> Iterator[str]:
    held: list[str] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= PIECE:
            yield "".join(held)
            held, size = [], 0
    yield "".join(held)


def _now(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


async def _later(first: str, rest: Iterator[str]) -> AsyncIterator[str]:
    """Piece by piece: a synchronous iterator would be read to its end before the first byte is sent."""
    piece: str | None = first
    while piece is not None:
        yield piece
        piece = await sync_to_async(lambda: next(rest, None))()


@require_safe
def run_bibtex(request: HttpRequest, slug: str) -> HttpResponse:
    page = run_page(run_seen(request, slug))
    disposition = {"Content-Disposition": f'attachment; filename="{page.run.slug}.bib"'}
    return HttpResponse(bibtex(page), content_type="application/x-bibtex; charset=utf-8", headers=disposition)
