"""What every endpoint of the API does: rights, throttle, parameters, and the conditional answer."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, cast

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError as DjangoValidationError
from django.shortcuts import get_object_or_404
from drf_spectacular.openapi import AutoSchema
from rest_framework import status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, exception_handler

from benchmark.models import Run
from frontend.api.parameters import Parameter, parameters_read
from frontend.api.versions import etag_of
from frontend.bad_query import BadQuery


def by_method(**values: str) -> Mapping[str, str]:
    """Such as `by_method(POST="operate")`, read-only."""
    return MappingProxyType(values)


class NotModified(APIException):
    """The caller's copy still holds."""

    status_code = status.HTTP_304_NOT_MODIFIED


class ApiView(APIView):
    """Declare `parameters` of GET, `needs` and `scopes` by method, and `version` where an answer can be kept."""

    parameters: ClassVar[Sequence[Parameter]] = ()
    needs: ClassVar[Mapping[str, str]] = {}
    """The permission that a method needs. Without one everybody reads, and nobody writes."""
    scopes: ClassVar[Mapping[str, str]] = {}
    """The scope that a token needs, beside its owner's permission. Reading needs `read` unless told otherwise."""
    reads_itself: ClassVar[bool] = False
    """Whether it reads its parameters through what the page reads them through."""
    given: Mapping[str, Any]
    etag: str | None = None

    def version(self, **_: Any) -> str | None:
        """What the ETag is made of; None: no ETag. Cheap, and asked before the answer is made."""
        return None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raises: APIException: not allowed, too often, a bad parameter, or nothing new."""
        super().initial(request, *args, **kwargs)
        reads = request.method in ("GET", "HEAD")
        if not (reads and self.reads_itself):
            self.given = parameters_read(self.parameters if reads else (), request.query_params)
        version = self.version(**kwargs) if reads else None
        if version is None:
            return
        self.etag = etag_of(request, version)
        if _matches(request.headers.get("If-None-Match", ""), self.etag):
            raise NotModified

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        if self.etag and answer.status_code in (status.HTTP_200_OK, status.HTTP_304_NOT_MODIFIED):
            answer.headers["ETag"] = self.etag
        answer.headers.setdefault("Cache-Control", "private, no-cache")
        return answer

    @property
    def person(self) -> User:
        """Who is signed in, where a permission was needed."""
        return cast(User, self.request.user)

    def run(self, slug: str) -> Run:
        """Raises: Http404: there is none that this reader may see."""
        return get_object_or_404(Run.objects.visible_to(self.request.user), slug=slug)


def _matches(given: str, etag: str) -> bool:
    return given.strip() == "*" or etag in [each.strip() for each in given.split(",")]


class AnyFormat(DefaultContentNegotiation):
    """For views whose `format` names a file's format and not a renderer."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        renderers = list(renderers)
        return renderers[0], renderers[0].media_type


class ApiSchema(AutoSchema):
    """Tells the schema of the parameters that `ApiView` checks, and what is open to everybody."""

    def get_auth(self) -> list[Any]:
        needed = getattr(self.view, "needs", {}).get(self.method)
        found: list[Any] = super().get_auth()
        return found if needed or self.method != "GET" else [{}, *found]

    def get_override_parameters(self) -> list[Any]:
        found: Sequence[Parameter] = getattr(self.view, "parameters", ()) if self.method == "GET" else ()
        return [parameter.openapi() for parameter in found]


def answer_to(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's answers, and those to what services and pages refuse."""
    if isinstance(error, NotModified):
        return Response(status=error.status_code)  # such an answer has no body
    if isinstance(error, DjangoValidationError):
        told = error.message_dict if hasattr(error, "error_dict") else {"detail": error.messages}
        error = ValidationError(told)
    if isinstance(error, BadQuery):
        error = ValidationError({error.parameter: error.message})
    return exception_handler(error, dict(context))
