"""Queues hand each run to as many people as they want, once each."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection
from django.utils import timezone

from benchmark.models import Run
from tests.support.annotating import COLLAPSE, ended_run, labelled, researcher
from tests.support.rows import run_row
from traces.models import Labelling, LabellingQueue
from traces.models.annotation_queue import CLAIM_DAYS
from traces.services.annotation_queue import claim_release, is_awaited, queue_create, queues_progress, run_claim

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs() -> list[Run]:
    return [ended_run() for _ in range(3)]


@pytest.fixture
def queue(runs: list[Run]) -> LabellingQueue:
    slugs = [run.slug for run in runs]
    return queue_create(name="Study", slugs=[*slugs, slugs[0]], annotators=2, created_by=researcher("head"))


def claimed(queue: LabellingQueue, author: User) -> Run | None:
    taken = run_claim(queue=queue, author=author)
    return taken.run if taken else None


def test_runs_come_in_order_and_to_two_people_each(queue: LabellingQueue, runs: list[Run]) -> None:
    people = [researcher(name) for name in ("ann", "bob", "cem")]
    assert [claimed(queue, each) for each in people] == [runs[0], runs[0], runs[1]]
    assert claimed(queue, people[0]) == runs[0], "the open one comes first"
    labelled(runs[0], people[0], COLLAPSE)
    assert claimed(queue, people[0]) == runs[1]
    labelled(runs[1], people[0], COLLAPSE)
    labelled(runs[1], people[2], COLLAPSE)
    assert claimed(queue, people[0]) == runs[2]
    labelled(runs[2], people[0], "")
    assert claimed(queue, people[0]) is None
    (told,) = queues_progress(people[0])
    assert (told.runs, told.complete, told.mine, told.left, told.open_run) == (3, 1, 3, 0, None)
    (told,) = queues_progress(people[1])
    assert (told.mine, told.left, told.open_run) == (0, 1, runs[0])


def test_a_forgotten_claim_keeps_nobody_out(queue: LabellingQueue, runs: list[Run]) -> None:
    for name in ("ann", "bob"):
        claimed(queue, researcher(name))
    cem = researcher("cem")
    Labelling.objects.update(claimed_at=timezone.now() - timedelta(days=CLAIM_DAYS, minutes=1))
    assert claimed(queue, cem) == runs[0]


@pytest.mark.django_db(transaction=True)
def test_people_who_ask_at_once_do_not_get_too_much() -> None:
    queue = queue_create(name="One each", slugs=[ended_run().slug], annotators=1, created_by=researcher("head"))
    people = [researcher(f"person{number}") for number in range(4)]
    start = threading.Barrier(len(people))

    def ask(author: User) -> Run | None:
        start.wait(60)
        try:
            return claimed(queue, author)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(people)) as pool:
        taken = list(pool.map(ask, people))
    assert sum(run is not None for run in taken) == 1
    assert Labelling.objects.count() == 1


def test_more_queues_need_no_more_queries(
    queue: LabellingQueue, runs: list[Run], django_assert_max_num_queries: Any
) -> None:
    ann, head = researcher("ann"), User.objects.get(username="head")
    other = queue_create(name="Later", slugs=[run.slug for run in runs[1:]], annotators=1, created_by=head)
    labelled(runs[1], ann, COLLAPSE)
    claimed(queue, ann)
    for name in ("bob", "cem"):
        labelled(runs[2], researcher(name), COLLAPSE)
    with django_assert_max_num_queries(4):
        later, first = queues_progress(ann)
    assert (first.queue, first.runs, first.complete, first.mine, first.left) == (queue, 3, 1, 1, 0)
    assert first.open_run == runs[0]
    assert (later.queue, later.runs, later.complete, later.mine, later.left) == (other, 2, 2, 1, 0)
    assert later.open_run is None
    with django_assert_max_num_queries(4):
        assert [told.left for told in queues_progress(head)] == [0, 2]
    other.places.all().delete()
    assert queues_progress(ann)[0].runs == 0


def test_a_claim_without_labels_can_be_given_back(queue: LabellingQueue, runs: list[Run]) -> None:
    ann = researcher("ann")
    claimed(queue, ann)
    assert claim_release(run=runs[0], author=ann)
    assert not claim_release(run=runs[0], author=ann)
    labelled(runs[0], ann, COLLAPSE, submit=False)
    assert not claim_release(run=runs[0], author=ann)


def test_a_run_is_awaited_until_enough_have_submitted(queue: LabellingQueue, runs: list[Run]) -> None:
    other = ended_run()
    assert [is_awaited(runs[0]), is_awaited(other)] == [True, False]
    labelled(runs[0], researcher("ann"), COLLAPSE)
    assert is_awaited(runs[0])
    labelled(runs[0], researcher("bob"), COLLAPSE)
    assert not is_awaited(runs[0])
    labelled(other, researcher("cem"), COLLAPSE, submit=False)
    assert is_awaited(other)


def test_a_wrong_queue_is_not_made(runs: list[Run], queue: LabellingQueue) -> None:
    head, going = User.objects.get(username="head"), run_row()
    for values, field in (
        ({"name": " "}, "name"),
        ({"name": "Study"}, "name"),
        ({"annotators": 0}, "annotators"),
        ({"slugs": []}, "runs"),
        ({"slugs": ["nothing"]}, "runs"),
        ({"slugs": [going.slug]}, "runs"),
    ):
        given = {"name": "New", "slugs": [runs[0].slug], "annotators": 2} | values
        with pytest.raises(ValidationError) as caught:
            queue_create(created_by=head, **given)  # type: ignore[arg-type]
        assert list(caught.value.message_dict) == [field]
    assert LabellingQueue.objects.count() == 1
