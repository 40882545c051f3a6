"""Whose run comes next."""

import pytest
from django.contrib.auth.models import User

from benchmark.models import Run, RunState
from benchmark.services.fair_share import runs_by_turn

pytestmark = pytest.mark.django_db


def run(owner: User | None, state: RunState = RunState.QUEUED) -> Run:
    return Run.objects.create(
        agent="example",
        task="arithmetic",
        protocol="arithmetic/1",
        base_model="tiny",
        budget_s=60,
        created_by=owner,
        state=state,
    )


def test_the_oldest_comes_first_among_equals() -> None:
    first, second = run(None), run(User.objects.create(username="ann"))
    assert list(runs_by_turn()) == [first, second]


def test_who_holds_fewer_comes_before_who_asked_earlier() -> None:
    busy, idle = (User.objects.create(username=name) for name in ("busy", "idle"))
    run(busy, RunState.RUNNING)
    run(busy, RunState.PREPARING)
    run(busy, RunState.FINISHED)
    run(idle, RunState.FINISHED)
    early, late, ownerless = run(busy), run(idle), run(None)
    assert list(runs_by_turn()) == [late, ownerless, early]
    run(idle, RunState.RUNNING)
    assert list(runs_by_turn()) == [ownerless, late, early]


def test_runs_without_an_owner_are_one_owners_together() -> None:
    for _ in range(3):
        run(None, RunState.RUNNING)
    ownerless, owned = run(None), run(User.objects.create(username="ann"))
    assert list(runs_by_turn()) == [owned, ownerless]
