"""tus 1.0.0 (https://tus.io/protocols/resumable-upload): core, creation, expiration, termination."""

import base64
import binascii
from collections.abc import Callable
from functools import wraps
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import http_date
from django.views.decorators.csrf import csrf_exempt

from bundles.models import Bundle, Upload
from bundles.services.upload_writing import Busy, TooMuch, WrongOffset, upload_write
from bundles.services.uploads import UploadRefused, size_most, upload_create, upload_delete, upload_finish
from frontend.bundle_access import Refusal, person_of
from frontend.bundle_details import details_read
from frontend.bundle_stream import Cut, body_pieces

VERSION = "1.0.0"
EXTENSIONS = "creation,expiration,termination"
METADATA_MOST = 6000
View = Callable[..., Any]


def tus(view: View) -> View:
    """What every answer carries, the version check, who asks, and refusals as text."""

    @csrf_exempt
    @wraps(view)
    async def wrapped(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        try:
            answer = _options() if request.method == "OPTIONS" else await _asked(view, request, kwargs)
        except (Refusal, UploadRefused) as refusal:
            answer = HttpResponse(str(refusal), status=refusal.status, content_type="text/plain; charset=utf-8")
            if refusal.status == 401:
                answer["WWW-Authenticate"] = "Bearer"
        answer["Tus-Resumable"] = VERSION
        answer["Cache-Control"] = "no-store"
        return answer

    return wrapped


def _options() -> HttpResponse:
    told = {"Tus-Version": VERSION, "Tus-Extension": EXTENSIONS, "Tus-Max-Size": str(size_most())}
    return HttpResponse(status=204, headers=told)


async def _asked(view: View, request: HttpRequest, kwargs: Any) -> HttpResponse:
    if request.headers.get("Tus-Resumable") != VERSION:
        answer = HttpResponse(f"Tus-Resumable must be {VERSION}.", status=412, content_type="text/plain")
        answer["Tus-Version"] = VERSION
        return answer
    person = await sync_to_async(person_of)(request)
    return await view(request, person, **kwargs)  # type: ignore[no-any-return]


@tus
async def uploads(request: HttpRequest, person: User) -> HttpResponse:
    """POST announces an upload."""
    if request.method != "POST":
        raise Refusal(405, "POST announces an upload here.")
    told = _metadata(request.headers.get("Upload-Metadata", ""))
    upload = await sync_to_async(upload_create)(
        owner=person,
        length=_number(request, "Upload-Length"),
        filename=told.get("filename", ""),
        sha256=told.get("sha256", ""),
        version_of=told.get("version_of", ""),
        details=details_read(told.get("details", "")),
    )
    headers = {"Location": reverse("bundle-upload", args=[upload.key]), "Upload-Expires": _expires(upload)}
    return HttpResponse(status=201, headers=headers)


@tus
async def upload(request: HttpRequest, person: User, key: str) -> HttpResponse:
    """HEAD tells how much has arrived, PATCH sends more, DELETE forgets it."""
    asked = request.headers.get("X-HTTP-Method-Override", request.method)
    found = await Upload.objects.filter(key=key, owner=person).select_related("bundle", "owner").afirst()
    if found is None:
        raise Refusal(404, "There is no such upload of yours; it may have expired.")
    if asked == "HEAD":
        if found.bundle is None and found.offset == found.length:
            # It was cut between its last byte and its end: nothing is left to send.
            found.bundle = await sync_to_async(upload_finish)(found)
        return _state(found, 200)
    if asked == "PATCH":
        return await _patch(request, found)
    if asked == "DELETE":
        if found.bundle is not None:
            raise Refusal(409, "This upload is finished; its bundle is kept.")
        await sync_to_async(upload_delete)(found)
        return HttpResponse(status=204)
    raise Refusal(405, "HEAD, PATCH or DELETE.")


async def _patch(request: HttpRequest, found: Upload) -> HttpResponse:
    if request.headers.get("Content-Type") != "application/offset+octet-stream":
        raise Refusal(415, "Content-Type must be application/offset+octet-stream.")
    offset = _number(request, "Upload-Offset")
    if found.bundle is not None:
        if offset != found.length:
            raise Refusal(409, f"This upload is finished: its offset is {found.length}.")
        return _state(found, 204)
    try:
        at = await upload_write(found, offset, body_pieces(request))
    except Cut:
        raise Refusal(408, "The request was cut; what arrived is kept.") from None
    except Busy:
        raise Refusal(423, "Another request is writing this upload.") from None
    except WrongOffset as wrong:
        raise Refusal(409, f"Upload-Offset is {offset}; {wrong.args[0]} bytes have arrived.") from None
    except TooMuch:
        raise Refusal(413, f"More than the announced {found.length} bytes were sent; the first are kept.") from None
    except FileNotFoundError:
        raise Refusal(410, "This upload is gone.") from None
    except OSError as error:
        raise Refusal(507, f"The server could not store it: {error.strerror}. What arrived is kept.") from error
    if at == found.length:
        found.bundle = await sync_to_async(upload_finish)(found)
    return _state(found, 204)


def _state(found: Upload, status: int) -> HttpResponse:
    headers = {"Upload-Offset": str(found.offset), "Upload-Length": str(found.length)}
    if found.bundle is None:
        return HttpResponse(status=status, headers=headers | {"Upload-Expires": _expires(found)})
    return HttpResponse(status=status, headers=headers | _bundle(found.bundle))


def _bundle(bundle: Bundle) -> dict[str, str]:
    return {"Bundle-Location": reverse("bundle", args=[bundle.slug]), "Bundle-Sha256": bundle.sha256}


def _expires(found: Upload) -> str:
    return http_date(found.expires_at.timestamp())


def _number(request: HttpRequest, name: str) -> int:
    """Raises: Refusal."""
    text = request.headers.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise Refusal(400, f"{name} must be a number of bytes.")
    return int(text)


def _metadata(text: str) -> dict[str, str]:
    """`key base64, key base64`. Raises: Refusal."""
    if len(text) > METADATA_MOST:
        raise Refusal(400, f"Upload-Metadata has more than {METADATA_MOST} characters.")
    told = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = pair.partition(" ")
        try:
            told[name] = base64.b64decode(value, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            raise Refusal(400, f"Upload-Metadata: {name[:40]} is not base64 of UTF-8.") from None
    return told
