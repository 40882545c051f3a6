"""Who may label, and who is to stay blind."""

from django.contrib.auth.models import AnonymousUser, User

from benchmark.models import Run
from frontend.access import with_permission
from grading.services.annotation_suggest import suggestions_reveal
from traces.models import ADJUDICATE, ANNOTATE
from traces.services.annotation_queue import is_awaited
from traces.services.annotation_reading import has_submitted

MAKE_QUEUES = "traces.add_labellingqueue"

annotators_only = with_permission(ANNOTATE)
adjudicators_only = with_permission(ADJUDICATE)
queue_makers_only = with_permission(MAKE_QUEUES)


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
