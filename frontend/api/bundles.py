"""Bundles and notifications over the API. Archives are sent by tus to `/bundles/upload/`; see docs/bundles.md."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotAuthenticated, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from benchmark.models import TokenScope
from bundles.models import Bundle, BundleState, Notification
from bundles.models.bundle import MODERATE
from bundles.services.appeals import appeal_open
from bundles.services.moderation import bundle_state_terms
from bundles.services.notifications import notifications_read
from frontend.api.base import ApiView, by_method
from frontend.api.paging import PAGING, Order, keyset_page
from frontend.api.parameters import Parameter
from frontend.api.shapes_pages import paged
from frontend.bundle_actions import ACTIONS
from frontend.bundle_told import bundle_data, bundle_row

NEWEST = Order("-created_at", "created_at", moment=True)


class BundleShape(Serializer[Any]):
    """One bundle without its report."""

    bundle = serializers.CharField()
    state = serializers.ChoiceField(choices=BundleState.choices)
    filename = serializers.CharField()
    size = serializers.IntegerField(help_text="Bytes.")
    sha256 = serializers.CharField()
    layout = serializers.CharField(allow_blank=True)
    part = serializers.CharField(allow_blank=True, help_text="The folder of its run, of several in one archive.")
    version = serializers.IntegerField()
    version_of = serializers.CharField(allow_null=True)
    run = serializers.CharField(allow_null=True)
    trust = serializers.CharField(allow_null=True)
    owner = serializers.CharField()
    asked = serializers.CharField(allow_blank=True, help_text="Changes that a moderator asks for.")
    created_at = serializers.DateTimeField()
    checked_at = serializers.DateTimeField(allow_null=True)
    moderated_at = serializers.DateTimeField(allow_null=True)
    page = serializers.CharField()


class BundleReportShape(BundleShape):
    """With what the check found, or how far it is."""

    progress: Any = serializers.DictField(allow_null=True)
    report: Any = serializers.DictField(allow_null=True)


class TermsShape(Serializer[Any]):
    contact = serializers.CharField(max_length=200)
    licence = serializers.CharField(max_length=100)


class TextShape(Serializer[Any]):
    text = serializers.CharField(max_length=4000)


class ModerateShape(Serializer[Any]):
    """Beside `action`, what it needs."""

    action = serializers.ChoiceField(choices=[(name, name) for name in ACTIONS])
    reviewed = serializers.BooleanField(required=False, help_text="publish: the moderator has read it.")
    reason = serializers.CharField(required=False, max_length=4000, help_text="hide, flag, unflag.")
    final = serializers.FloatField(required=False, allow_null=True, help_text="flag: 0..100, null: none.")
    text = serializers.CharField(required=False, max_length=4000, help_text="ask.")
    number = serializers.IntegerField(required=False, help_text="regrade: the submission's.")


class NoticeShape(Serializer[Any]):
    text = serializers.CharField()
    path = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    read_at = serializers.DateTimeField(allow_null=True)


class BundleView(ApiView):
    """A view that finds a bundle for whoever asks."""

    def bundle(self, slug: str, *, own: bool = False) -> Bundle:
        """Raises: Http404, NotAuthenticated: it is not for this reader."""
        rows = Bundle.objects.visible_to(self.request.user).select_related("owner", "run", "version_of")
        if own and not self.request.user.is_authenticated:
            raise NotAuthenticated
        found = get_object_or_404(rows, slug=slug)
        if own and not found.may_change(self.request.user):
            raise PermissionDenied("This bundle belongs to somebody else.")
        return found


class Bundles(ApiView):
    """Bundles that the caller may see: published ones and one's own; all for moderators."""

    parameters = (
        *PAGING,
        Parameter("state", "Only those in this state.", choices=tuple(BundleState.values), many=True),
        Parameter("mine", "Only one's own.", "flag"),
    )

    @extend_schema(operation_id="bundles_list", responses=paged(BundleShape))
    def get(self, request: Request) -> Response:
        """The newest first."""
        rows = Bundle.objects.visible_to(request.user)
        if "state" in self.given:
            rows = rows.filter(state__in=self.given["state"])
        if self.given.get("mine"):
            rows = rows.filter(owner=request.user.pk)
        page = keyset_page(request._request, rows, NEWEST, self.given)
        found = Bundle.objects.select_related("owner", "run", "version_of").in_bulk(page.ids)
        return Response({"next": page.next, "results": [bundle_row(found[pk], request.user) for pk in page.ids]})


class BundleOne(BundleView):
    """One bundle."""

    @extend_schema(operation_id="bundles_one", responses=BundleReportShape)
    def get(self, request: Request, slug: str) -> Response:
        """With its report, or how far its check is."""
        return Response(bundle_data(self.bundle(slug), request.user))


class BundleTerms(BundleView):
    """Contact and licence, where the archive lacks them."""

    needs = by_method(POST="")
    scopes = by_method(POST=TokenScope.SUBMIT)

    @extend_schema(operation_id="bundles_terms", request=TermsShape, responses=BundleShape)
    def post(self, request: Request, slug: str) -> Response:
        """State both; its owner or a moderator."""
        bundle, body = self.bundle(slug, own=True), TermsShape(data=request.data)
        body.is_valid(raise_exception=True)
        bundle_state_terms(bundle=bundle, actor=self.person, **body.validated_data)
        return Response(bundle_row(bundle, request.user))


class BundleAppeal(BundleView):
    """An objection to a flag or a hiding."""

    needs = by_method(POST="")
    scopes = by_method(POST=TokenScope.SUBMIT)

    @extend_schema(operation_id="bundles_appeal", request=TextShape, responses=BundleShape)
    def post(self, request: Request, slug: str) -> Response:
        """Its owner's; one at a time."""
        bundle, body = self.bundle(slug, own=True), TextShape(data=request.data)
        if bundle.owner_id != self.person.pk:
            raise PermissionDenied("Only its owner appeals.")
        body.is_valid(raise_exception=True)
        appeal_open(bundle=bundle, author=self.person, text=body.validated_data["text"])
        return Response(bundle_row(bundle, request.user))


class BundleModerate(BundleView):
    """What moderators do. Not for tokens."""

    needs = by_method(POST=MODERATE)

    @extend_schema(operation_id="bundles_moderate", request=ModerateShape, responses=BundleShape)
    def post(self, request: Request, slug: str) -> Response:
        """Publish, hide, flag, unflag, ask, recheck or regrade."""
        bundle, body = self.bundle(slug), ModerateShape(data=request.data)
        body.is_valid(raise_exception=True)
        given = dict(body.validated_data)
        action = given.pop("action")
        if action == "regrade" and "number" not in given:
            raise ValidationError({"number": "Give the number of a submission."})
        ACTIONS[action](bundle, self.person, given)
        return Response(bundle_row(bundle, request.user))


class Notices(ApiView):
    """What the caller was told."""

    parameters = (*PAGING, Parameter("unread", "Only what was not read.", "flag"))
    needs = by_method(POST="")

    @extend_schema(operation_id="notifications_list", responses=paged(NoticeShape))
    def get(self, request: Request) -> Response:
        """The newest first."""
        if not request.user.is_authenticated:
            raise NotAuthenticated
        rows = Notification.objects.filter(user=self.person)
        rows = rows.unread() if self.given.get("unread") else rows
        page = keyset_page(request._request, rows, NEWEST, self.given)
        found = Notification.objects.in_bulk(page.ids)
        return Response({"next": page.next, "results": [NoticeShape(found[pk]).data for pk in page.ids]})

    @extend_schema(operation_id="notifications_read", request=None, responses={200: dict[str, Any]})
    def post(self, request: Request) -> Response:
        """Mark all as read."""
        if not request.user.is_authenticated:
            raise NotAuthenticated
        return Response({"read": notifications_read(self.person)})
