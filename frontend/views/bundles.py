"""Uploads: one's own, a new one, the report of one, and what its owner may do with it."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from benchmark.catalogue import tasks
from benchmark.services.artifacts import artifact_blocks
from bundles.models import Bundle
from bundles.services.appeals import appeal_open
from bundles.services.moderation import bundle_state_terms
from bundles.services.uploads import GB, SUFFIXES, quota_used, size_most
from frontend.access import signed_in
from frontend.bundle_access import UPLOAD, bundle_own, bundle_seen, may_moderate
from frontend.bundle_list import bundle_list_of
from frontend.bundle_page import bundle_page
from frontend.bundle_told import bundle_data
from frontend.streaming import archive_sent


@require_safe
def bundle_list(request: HttpRequest) -> HttpResponse:
    """One's own; what is published for everybody."""
    context = {"listed": bundle_list_of(request.user, request.GET), "moderates": may_moderate(request)}
    return render(request, "frontend/bundles.html", context)


@login_required
@require_safe
def bundle_new(request: HttpRequest) -> HttpResponse:
    person = signed_in(request)
    corrects = Bundle.objects.filter(owner=person, slug=request.GET.get("version_of", "")[:60]).first()
    context = {
        "corrects": corrects,
        "may_upload": person.has_perm(UPLOAD),
        "tasks": list(tasks()),
        "most": size_most(),
        "suffixes": SUFFIXES,
        "quota": int(settings.BUNDLE_QUOTA_GB * GB),
        "used": quota_used(person),
    }
    return render(request, "frontend/bundle_new.html", context)


@require_safe
def bundle_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """The report; `?piece=1` is what changes while the check goes on."""
    bundle = bundle_seen(request, slug)
    page = bundle_page(bundle, request.user, request.GET.get("sev", ""), moderates=may_moderate(request))
    template = "frontend/bundle_live.html" if request.GET.get("piece") == "1" else "frontend/bundle.html"
    return render(request, template, {"page": page, "bundle": bundle})


@require_safe
def bundle_report(request: HttpRequest, slug: str) -> HttpResponse:
    answer = JsonResponse(bundle_data(bundle_seen(request, slug), request.user), json_dumps_params={"indent": 2})
    answer["Content-Disposition"] = f'inline; filename="{slug}-report.json"'
    return answer


@require_safe
def bundle_archive(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The archive as it came: for its owner and moderators, since nothing in it is masked by us."""
    bundle = bundle_own(request, slug)
    blocks = artifact_blocks(bundle.path, sha256=bundle.sha256)
    try:
        return archive_sent(request, blocks, size=bundle.size, filename=bundle.filename)
    except OSError:
        raise Http404 from None


@login_required
@require_POST
def bundle_terms(request: HttpRequest, slug: str) -> HttpResponse:
    """Contact and licence."""
    bundle, given = bundle_own(request, slug), request.POST
    try:
        bundle_state_terms(
            bundle=bundle,
            actor=signed_in(request),
            contact=given.get("contact", ""),
            licence=given.get("licence", ""),
        )
    except ValidationError as error:
        return refused(request, bundle, error)
    messages.info(request, "Contact and licence are noted.")
    return redirect("bundle", slug)


@login_required
@require_POST
def bundle_appeal(request: HttpRequest, slug: str) -> HttpResponse:
    bundle, person = bundle_own(request, slug), signed_in(request)
    if bundle.owner_id != person.pk:
        raise Http404
    try:
        appeal_open(bundle=bundle, author=person, text=request.POST.get("text", ""))
    except ValidationError as error:
        return refused(request, bundle, error)
    messages.info(request, "Your appeal waits for a moderator.")
    return redirect("bundle", slug)


def refused(request: HttpRequest, bundle: Bundle, error: ValidationError) -> HttpResponse:
    """The report page again, with what was wrong."""
    page = bundle_page(bundle, request.user, "", moderates=may_moderate(request))
    told = [f"{name}: {text}" for name, texts in error.message_dict.items() for text in texts]
    context = {"page": page, "bundle": bundle, "problems": told, "given": request.POST}
    return render(request, "frontend/bundle.html", context, status=400)
