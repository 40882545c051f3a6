"""One event of a trace: the whole of it in pieces, its record, its images."""

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from benchmark.models import Run
from frontend.numbers import LARGEST, whole_number
from frontend.trace_bodies import whole
from frontend.trace_images import NoImage, image_read
from traces.models import Event
from traces.selectors import source

PARTS = ("text", "answer", "raw")
AWAY = (
    "The files of this trace are not on this machine, so its events cannot be read. "
    "Restore them, or import the transcript again."
)
RAW_MOST = 256 << 20


def number_in(request: HttpRequest, name: str) -> int | None:
    """Raises: BadRequest."""
    text = request.GET.get(name, "")
    if not text:
        return None
    number = whole_number(text)
    if number is None:
        raise BadRequest(f"{name} must be a whole number from 0.")
    return number


def _event(request: HttpRequest, slug: str, key: str, seq: int) -> Event:
    """Of a run that this reader may see. Raises: Http404."""
    events = Event.objects.select_related("trace").filter(trace__run__in=Run.objects.visible_to(request.user))
    return get_object_or_404(events, trace__run__slug=slug, trace__key=key, seq=min(seq, LARGEST))


@require_safe
def trace_event(request: HttpRequest, slug: str, key: str, seq: int) -> HttpResponse:
    """The whole of one event, a piece at a time."""
    event, of = _event(request, slug, key, seq), request.GET.get("of", "")
    if of and of not in PARTS:
        raise BadRequest(f"of must be one of {', '.join(PARTS)}.")
    try:
        context = {"whole": whole(event, of=of, offset=number_in(request, "offset") or 0), "slug": slug, "key": key}
    except OSError:
        return HttpResponse(AWAY, status=503, content_type="text/plain; charset=utf-8")
    return render(request, "frontend/parts/trace_body.html", context)


@require_safe
def trace_raw(request: HttpRequest, slug: str, key: str, seq: int) -> HttpResponse:
    """The record of one event as it stands in the stored transcript: a download, so that no browser renders it."""
    event = _event(request, slug, key, seq)
    if event.length > RAW_MOST:
        raise BadRequest("This record is too large to be sent at once.")
    try:
        data = source(event)
    except OSError:
        return HttpResponse(AWAY, status=503, content_type="text/plain; charset=utf-8")
    disposition = {"Content-Disposition": f'attachment; filename="{slug}-line-{event.line}.txt"'}
    return HttpResponse(data, content_type="text/plain; charset=utf-8", headers=disposition)


@require_safe
def trace_image(request: HttpRequest, slug: str, key: str, seq: int, number: int) -> HttpResponse:
    try:
        media, data = image_read(_event(request, slug, key, seq), number)
    except NoImage as error:
        raise Http404(str(error)) from error
    except OSError:
        return HttpResponse(AWAY, status=503, content_type="text/plain; charset=utf-8")
    headers = {"Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "max-age=86400"}
    return HttpResponse(data, content_type=media, headers=headers)
