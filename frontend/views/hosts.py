"""What hosts of workers ask the web server: to join, and to take their records. Tokens, no sessions."""

from django.core.exceptions import ValidationError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from benchmark.services.hosts import host_join, host_of_token
from traces.services.receiving import Gap, Refused, record_receive

BODY_MOST = 64 << 20


def _token(request: HttpRequest) -> str:
    word, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if word == "Bearer" else ""


def _no(status: int, detail: str) -> JsonResponse:
    return JsonResponse({"detail": detail}, status=status)


@csrf_exempt
@require_POST
def join(request: HttpRequest) -> JsonResponse:
    """Exchange an enrolment token for the settings of that host's workers."""
    try:
        joined = host_join(token=_token(request))
    except ValidationError as error:
        return _no(409, error.messages[0])
    if joined is None:
        return _no(403, "This enrolment token is not good, or not any more: `manage.py host enrol NAME` makes one.")
    answer = JsonResponse({"name": joined.host.name, "environment": joined.environment})
    answer["Cache-Control"] = "no-store"
    return answer


@csrf_exempt
@require_http_methods(["PUT"])
def record(request: HttpRequest, place: str) -> JsonResponse:
    """Bytes of one record of a run on the host that shows its token."""
    host = host_of_token(_token(request))
    if host is None:
        return _no(403, "This is for hosts that have joined.")
    offset = request.GET.get("offset", "")
    if not (offset.isascii() and offset.isdigit() and len(offset) < 19):
        return _no(400, "offset must be a number of bytes, from 0 on.")
    data = request.read(BODY_MOST + 1)
    if len(data) > BODY_MOST:
        return _no(413, f"At most {BODY_MOST} bytes at a time.")
    try:
        record_receive(host=host.name, place=place, offset=int(offset), data=data)
    except Refused as refusal:
        return _no(404, str(refusal))
    except Gap as gap:
        return JsonResponse({"detail": "There is a gap before these bytes.", "size": gap.size}, status=409)
    return JsonResponse({"stored": len(data)})
