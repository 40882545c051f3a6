"""Answers that are sent piece by piece, whichever server it is; memory holds a piece."""

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header


def streamed(
    request: HttpRequest, pieces: Iterator[bytes], kind: str, headers: dict[str, str]
) -> StreamingHttpResponse:
    """The first piece is read at once: a fault that shows then is the view's. Raises: what `pieces` raises."""
    first = next(pieces, b"")
    body = _later(first, pieces) if isinstance(request, ASGIRequest) else _now(first, pieces)
    return StreamingHttpResponse(body, content_type=kind, headers=headers)


def archive_sent(request: HttpRequest, pieces: Iterator[bytes], *, size: int, filename: str) -> StreamingHttpResponse:
    """A file to be saved, of `size` bytes. It is compressed already, so no middleware is to do it once more.

    Raises: what `pieces` raises.
    """
    headers = {
        "Content-Disposition": content_disposition_header(True, filename) or "attachment",
        "Content-Length": str(size),
        "Content-Encoding": "identity",
    }
    kind = "application/zip" if filename.lower().endswith(".zip") else "application/octet-stream"
    return streamed(request, pieces, kind, headers)


def _now(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


async def _later(first: bytes, rest: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Piece by piece: a synchronous iterator would be read to its end before the first byte is sent."""
    piece: bytes | None = first
    while piece is not None:
        yield piece
        piece = await sync_to_async(lambda: next(rest, None))()
