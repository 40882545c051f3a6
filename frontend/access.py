"""Who may do what on the pages: reading is for everybody, operating needs the permission."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse

OPERATE = "benchmark.operate_run"
P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def operators_only(view: "View[P]") -> "View[P]":
    """Strangers are asked to sign in; people without the permission get 403."""
    return login_required(permission_required(OPERATE, raise_exception=True)(view))


def operator(request: HttpRequest) -> User:
    """Who is signed in, behind `operators_only`."""
    assert isinstance(request.user, User)
    return request.user


def may_operate(request: HttpRequest) -> bool:
    return bool(request.user.has_perm(OPERATE))
