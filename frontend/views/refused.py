"""Requests that reach no page: what is wrong, in words."""

from django.core.exceptions import DisallowedHost, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

TOLD: dict[type[Exception], str] = {
    TooManyFieldsSent: "The address or the form has more than 1,000 parameters: leave some out.",
    TooManyFilesSent: "The form has too many files: send one at a time.",
    RequestDataTooBig: "The form is larger than 1 MiB: send less. Archives are uploaded at /bundles/new.",
    DisallowedHost: "The site does not answer to this host name; its operator names those in AGENT2_ALLOWED_HOSTS.",
}
OTHER = "The request cannot be read: start anew from the site's first page."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400. No template: those of the site ask the request for what it could not give."""
    told = next((text for kind, text in TOLD.items() if isinstance(exception, kind)), OTHER)
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": told}, status=400)
    return HttpResponse(f"{told}\n", status=400, content_type="text/plain; charset=utf-8")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler404 without its look at the form, which may be as wrong as the address."""
    return render(request, "404.html", status=404)
