"""Who sees and changes which bundle."""

from typing import Any, ClassVar, cast

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from benchmark.api.authentication import ApiTokenAuthentication
from benchmark.models import TokenScope
from bundles.models import Bundle
from bundles.models.bundle import MODERATE
from frontend.access import with_permission

UPLOAD = "bundles.add_upload"


class Refusal(Exception):
    """A request that is not served; `status` is HTTP's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _Uploading:
    """Every step of an upload is submitting, looking how far it is included."""

    scopes: ClassVar = dict.fromkeys(("POST", "HEAD", "PATCH", "DELETE"), TokenScope.SUBMIT)


def person_of(request: HttpRequest) -> User:
    """Who uploads: by API token, or by session and then with the form's token. Raises: Refusal."""
    asked: Any = Request(request, parser_context={"view": _Uploading()})
    try:
        known = ApiTokenAuthentication(scope="submit").authenticate(asked)
        if known is None and request.user.is_authenticated:
            SessionAuthentication().enforce_csrf(cast(Request, request))
    except APIException as error:
        raise Refusal(error.status_code, str(error.detail)) from None
    person = known[0] if known else request.user
    if not isinstance(person, User):
        raise Refusal(401, "Sign in, or send an API token: Authorization: Bearer <token>.")
    if not person.has_perm(UPLOAD):
        raise Refusal(403, "Uploading needs the role submitter: ask an administrator of this site for it.")
    return person


moderators_only = with_permission(MODERATE)


def may_moderate(request: HttpRequest) -> bool:
    return bool(request.user.has_perm(MODERATE))


def bundle_seen(request: HttpRequest, slug: str) -> Bundle:
    """Raises: Http404: there is none, or it is not for this person."""
    found = Bundle.objects.visible_to(request.user).select_related("owner", "run", "version_of").filter(slug=slug)
    bundle = found.first()
    if bundle is None:
        raise Http404
    return bundle


def bundle_own(request: HttpRequest, slug: str) -> Bundle:
    """Raises: Http404: it is neither this person's nor are they a moderator."""
    bundle = bundle_seen(request, slug)
    if not bundle.may_change(request.user):
        raise Http404
    return bundle
