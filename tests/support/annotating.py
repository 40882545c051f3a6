"""People who label, and runs to label."""

from typing import Any

from django.contrib.auth.models import Permission, User
from django.utils import timezone

from benchmark.models import Run, RunState
from tests.support.rows import run_row
from traces.methods.failures import FailureType
from traces.models import Annotation, Trace
from traces.services.annotation import annotation_create, labels_submit

COLLAPSE, EARLY = FailureType.COLLAPSE.value, FailureType.EARLY_CODING.value


def researcher(name: str, *more: str) -> User:
    """May annotate; `more` are further permissions."""
    user = User.objects.create_user(name)
    user.user_permissions.set(Permission.objects.filter(codename__in=("annotate", *more)))
    return User.objects.get(pk=user.pk)


def ended_run(**values: Any) -> Run:
    return run_row(**{"state": RunState.FINISHED, "ended_at": timezone.now(), "lease": ""} | values)


def trace_of(run: Run, events: int = 20) -> Trace:
    return Trace.objects.create(run=run, name="agent.log", event_count=events, state="sealed")


def labelled(run: Run, author: User, *types: str, submit: bool = True) -> list[Annotation]:
    """One label a type, submitted."""
    made = [annotation_create(author=author, run=run, failure_type=each, note=f"{author}: {each}") for each in types]
    if submit:
        assert labels_submit(author=author, run=run)
    return made
