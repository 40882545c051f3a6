"""Who may see and do what on the pages: reading what is shown is for everybody, all else needs a permission."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from benchmark.models import Run

OPERATE = "benchmark.operate_run"
P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def with_permission(permission: str) -> Callable[["View[P]"], "View[P]"]:
    """Strangers are asked to sign in; people without the permission get 403."""

    def decorate(view: "View[P]") -> "View[P]":
        return login_required(permission_required(permission, raise_exception=True)(view))

    return decorate


def operators_only(view: "View[P]") -> "View[P]":
    """Strangers are asked to sign in; people without the permission get 403."""
    return with_permission(OPERATE)(view)


def operator(request: HttpRequest) -> User:
    """Who is signed in, behind `operators_only`."""
    return signed_in(request)


def signed_in(request: HttpRequest) -> User:
    """Who is signed in, behind `login_required` or a permission."""
    assert isinstance(request.user, User)
    return request.user


def may_operate(request: HttpRequest) -> bool:
    return bool(request.user.has_perm(OPERATE))


def run_seen(request: HttpRequest, slug: str) -> Run:
    """Raises: Http404: there is no such run, or it is hidden from this person."""
    return get_object_or_404(Run.objects.visible_to(request.user).select_related("created_by"), slug=slug)
