"""What moderators do with bundles."""

import math
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from bundles.models import Appeal
from bundles.services.appeals import appeal_decide
from frontend.access import signed_in
from frontend.bundle_access import bundle_seen, moderators_only
from frontend.bundle_actions import ACTIONS
from frontend.bundle_list import queue_of
from frontend.bundle_similar import lines_of, sides_of
from frontend.views.bundles import refused


def final_score(text: str) -> float | None:
    """Empty is none. Raises: ValidationError."""
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValidationError({"final": "A score is a number from 0 to 100; leave it empty for none."})
    return value


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValidationError({"number": "Give the number of a submission."})
    return int(text)


def _given(posted: QueryDict) -> dict[str, Any]:
    """The form's fields as `ACTIONS` take them. Raises: ValidationError."""
    given: dict[str, Any] = {name: posted.get(name, "") for name in ("reason", "text")}
    given |= {"reviewed": posted.get("reviewed") == "1", "final": final_score(posted.get("final", ""))}
    if "number" in posted:
        given["number"] = _number(posted.get("number", ""))
    elif posted.get("action") == "regrade":
        raise ValidationError({"number": "Give the number of a submission."})
    return given


DONE = {
    "publish": "Published.",
    "hide": "Hidden.",
    "flag": "Flagged: raw score, final score and reason stand side by side.",
    "unflag": "The flag is taken back.",
    "ask": "The submitter is asked for changes.",
    "recheck": "It is checked once more.",
    "regrade": "The checkpoint waits to be graded here.",
}


@moderators_only
@require_safe
def moderation(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/bundle_moderation.html", {"queue": queue_of(request.GET)})


@moderators_only
@require_safe
def similar(request: HttpRequest, slug: str) -> HttpResponse:
    bundle = bundle_seen(request, slug)
    sides = sides_of(bundle)
    context = {"bundle": bundle, "sides": sides, "lines": lines_of(sides)}
    return render(request, "frontend/bundle_similar.html", context)


@moderators_only
@require_POST
def moderate(request: HttpRequest, slug: str) -> HttpResponse:
    bundle, action = bundle_seen(request, slug), request.POST.get("action", "")
    try:
        if action not in ACTIONS:
            raise ValidationError({"action": f"Give one of {', '.join(ACTIONS)}."})
        ACTIONS[action](bundle, signed_in(request), _given(request.POST))
    except ValidationError as error:
        return refused(request, bundle, error)
    messages.info(request, DONE[action])
    return redirect("bundle", slug)


@moderators_only
@require_POST
def decide(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Uphold or dismiss an appeal."""
    bundle = bundle_seen(request, slug)
    appeal = get_object_or_404(Appeal, pk=pk, bundle=bundle)
    verdict = request.POST.get("verdict", "")
    try:
        if verdict not in ("upheld", "dismissed"):
            raise ValidationError({"verdict": "Give upheld or dismissed."})
        appeal_decide(
            appeal=appeal,
            actor=signed_in(request),
            uphold=verdict == "upheld",
            answer=request.POST.get("answer", ""),
        )
    except ValidationError as error:
        return refused(request, bundle, error)
    messages.info(request, f"The appeal is {verdict}.")
    return redirect("bundle", slug)
