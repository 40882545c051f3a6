"""What can be taken from a run: its transcripts and its citation. Its bundle is among the bundles' files."""

from collections.abc import Callable, Iterator

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from frontend.access import run_seen
from frontend.bad_query import bad_queries_told
from frontend.run_cite import bibtex
from frontend.run_task import run_page_read
from frontend.streaming import streamed
from traces.export.atif import atif
from traces.export.jsonl import jsonl
from traces.models import Trace
from traces.storage.files import read_part

PIECE = 1 << 18
"""Bytes that are sent at once."""


def log(trace: Trace) -> Iterator[bytes]:
    """The stored transcript: for a run made here the agent's stdout and stderr, secrets masked. Raises: OSError."""
    for start in range(0, trace.transcript_bytes, PIECE):
        yield read_part(trace.folder / "transcript", start, min(PIECE, trace.transcript_bytes - start))


FORMATS: dict[str, tuple[Callable[[Trace], Iterator[str] | Iterator[bytes]], str]] = {
    "jsonl": (jsonl, "application/x-ndjson"),
    "atif.json": (atif, "application/json"),
    "log": (log, "text/plain"),
}


@require_safe
def run_trace_file(request: HttpRequest, slug: str, key: str, form: str) -> HttpResponseBase:
    """One whole transcript as JSON lines, as ATIF, or as it is stored. Memory is a piece of it."""
    trace = get_object_or_404(Trace.objects.select_related("run"), run=run_seen(request, slug), key=key)
    write, kind = FORMATS[form]
    disposition = {"Content-Disposition": f'attachment; filename="{slug}-{trace.pk}.{form}"'}
    try:
        return streamed(request, _pieces(write(trace)), f"{kind}; charset=utf-8", disposition)
    except OSError:
        return HttpResponse("The transcript’s files are not on this machine.", status=503, content_type="text/plain")


def _pieces(lines: Iterator[str] | Iterator[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for line in lines:
        held.append(line.encode() if isinstance(line, str) else line)
        size += len(held[-1])
        if size >= PIECE:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


@require_safe
@bad_queries_told
def run_bibtex(request: HttpRequest, slug: str) -> HttpResponse:
    page = run_page_read(request, slug)
    disposition = {"Content-Disposition": f'attachment; filename="{page.run.slug}.bib"'}
    return HttpResponse(bibtex(page), content_type="application/x-bibtex; charset=utf-8", headers=disposition)
