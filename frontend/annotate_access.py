"""Who may label, and who is to stay blind."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse

from benchmark.models import Run
from grading.services.annotation_suggest import suggestions_reveal
from traces.models import ADJUDICATE, ANNOTATE
from traces.services.annotation_queue import is_awaited
from traces.services.annotation_reading import has_submitted

MAKE_QUEUES = "traces.add_labellingqueue"
P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def with_permission(permission: str) -> Callable[["View[P]"], "View[P]"]:
    """Strangers are asked to sign in; people without the permission get 403."""

    def decorate(view: "View[P]") -> "View[P]":
        return login_required(permission_required(permission, raise_exception=True)(view))

    return decorate


annotators_only = with_permission(ANNOTATE)
adjudicators_only = with_permission(ADJUDICATE)
queue_makers_only = with_permission(MAKE_QUEUES)


def annotator(request: HttpRequest) -> User:
    """Who is signed in, behind one of these."""
    assert isinstance(request.user, User)
    return request.user


def may_see_failures(user: User | AnonymousUser, run: Run) -> bool:
    """Whether suggested failure types of a run may be shown; a researcher who sees them counts as having seen them.

    While somebody is still to label the run, they are hidden from everybody else too: signing out is no way around.
    """
    if not run.terminal:
        return True  # nothing is suggested yet
    if isinstance(user, User) and user.has_perm(ANNOTATE):
        if not has_submitted(user, run):
            return False
        suggestions_reveal(user, run)
        return True
    return not is_awaited(run)
