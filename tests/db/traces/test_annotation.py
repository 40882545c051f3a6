"""Labels: never overwritten, blind until submitted, and only blind ones in agreement."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from benchmark.models import Run, RunState
from grading.services.annotation_suggest import run_suggest
from tests.support.annotating import COLLAPSE, EARLY, ended_run, labelled, researcher, trace_of
from tests.support.rows import run_row
from traces.models import Adjudication, Annotation, Suggestion
from traces.services.annotation import adjudication_create, annotation_create, labels_submit, seen_of
from traces.services.annotation_reading import (
    NONE,
    TAGS,
    agreement,
    agreement_labels,
    annotations_for,
    export_rows,
    suggestions_for,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return ended_run()


@pytest.fixture
def ann() -> User:
    return researcher("ann", "adjudicate")


@pytest.fixture
def bob() -> User:
    return researcher("bob")


def test_before_submitting_only_ones_own_labels_are_visible(run: Run, ann: User, bob: User) -> None:
    (hers,), (his,) = labelled(run, ann, COLLAPSE), labelled(run, bob, EARLY, submit=False)
    run_suggest(run)
    assert annotations_for(bob, run) == [his]
    assert suggestions_for(bob, run) == []
    assert [row["id"] for row in export_rows(bob)] == [his.pk]
    assert seen_of(bob, run) == {"annotations": [], "suggestions": []}
    labels_submit(author=bob, run=run)
    assert annotations_for(bob, run) == [hers, his]
    assert [each.failure_type for each in suggestions_for(bob, run)] == [EARLY]


def test_what_others_have_not_submitted_stays_hidden_for_ever(run: Run, ann: User, bob: User) -> None:
    labelled(run, ann, COLLAPSE, submit=False)
    (his,) = labelled(run, bob, EARLY)
    assert annotations_for(bob, run) == [his]


def test_submitting_one_run_opens_no_other(run: Run, ann: User, bob: User) -> None:
    other = ended_run()
    labelled(run, ann, COLLAPSE)
    labelled(other, ann, COLLAPSE)
    labelled(run, bob, EARLY)
    assert len(annotations_for(bob, run)) == 2
    assert annotations_for(bob, other) == []


@pytest.mark.parametrize("model", [Annotation, Suggestion, Adjudication])
def test_without_the_permission_nothing_is_visible(
    model: type[Annotation] | type[Suggestion] | type[Adjudication], run: Run, ann: User, bob: User
) -> None:
    labelled(run, ann, COLLAPSE)
    labelled(run, bob, EARLY)
    run_suggest(run)
    adjudication_create(author=ann, run=run, failure_types=[EARLY], note="it never trained")
    assert model.objects.visible_to(ann).exists()
    bob.user_permissions.clear()
    for user in (User.objects.get(pk=bob.pk), User.objects.create_user("stranger"), AnonymousUser()):
        assert not model.objects.visible_to(user).exists()


def test_not_even_a_superuser_sees_before_submitting(run: Run, ann: User) -> None:
    labelled(run, ann, COLLAPSE)
    root = User.objects.create_superuser("root")
    assert annotations_for(root, run) == []


def test_a_revision_is_a_new_row_and_the_old_one_stays(run: Run, ann: User) -> None:
    (first,) = labelled(run, ann, COLLAPSE, submit=False)
    second = annotation_create(author=ann, run=run, failure_type=EARLY, note="on reflection", revises=first)
    first.refresh_from_db()
    assert (first.failure_type, first.note) == (COLLAPSE, f"ann: {COLLAPSE}")
    assert list(Annotation.objects.in_force()) == [second]
    with pytest.raises(ValidationError, match="revised already"):
        annotation_create(author=ann, run=run, failure_type="", revises=first)
    assert Annotation.objects.count() == 2


def test_nobody_revises_anothers_label(run: Run, ann: User, bob: User) -> None:
    (hers,) = labelled(run, ann, COLLAPSE)
    labelled(run, bob, EARLY)
    with pytest.raises(ValidationError, match="label of your own"):
        annotation_create(author=bob, run=run, failure_type=EARLY, revises=hers)


def test_a_label_remembers_what_its_author_had_seen(run: Run, ann: User, bob: User) -> None:
    (hers,) = labelled(run, ann, COLLAPSE)
    (his,) = labelled(run, bob, EARLY)
    (suggested,) = run_suggest(run)
    quick = annotation_create(author=bob, run=run, failure_type="")
    assert quick.is_blind, "submitted, but shown nothing so far"
    annotations_for(bob, run)
    suggestions_for(bob, run)
    late = annotation_create(author=bob, run=run, failure_type=COLLAPSE, revises=his)
    assert not late.is_blind
    assert late.seen_before == {"annotations": [hers.pk], "suggestions": [suggested.pk]}


def test_agreement_takes_the_last_blind_word(run: Run, ann: User, bob: User) -> None:
    labelled(run, ann, COLLAPSE)
    (slip,) = labelled(run, bob, COLLAPSE, submit=False)
    meant = annotation_create(author=bob, run=run, failure_type=EARLY, revises=slip)
    assert [label.author for label in agreement_labels()] == ["ann"], "bob has not submitted"
    labels_submit(author=bob, run=run)
    annotations_for(bob, run)
    annotation_create(author=bob, run=run, failure_type=COLLAPSE, revises=meant)
    tags = {label.author: label.tags for label in agreement_labels()}
    assert tags == {"ann": {COLLAPSE}, "bob": {EARLY}}


def test_a_person_who_saw_first_has_no_label_in_agreement(run: Run, ann: User, bob: User) -> None:
    """Submission with “none” to look, and the real label after."""
    labelled(run, ann, COLLAPSE)
    labelled(run, bob, "")
    annotations_for(bob, run)
    annotation_create(author=bob, run=run, failure_type=COLLAPSE)
    assert {label.author: label.tags for label in agreement_labels()}["bob"] == {NONE}


def test_agreement_over_ten_runs(ann: User, bob: User) -> None:
    for number in range(10):
        run = ended_run()
        labelled(run, ann, COLLAPSE if number < 5 else "")
        labelled(run, bob, COLLAPSE if number < 4 else "")
        if number == 8:
            tags, pairs = agreement()
            reasons = {each.reason for each in tags} | {each.reason for each in pairs}
            assert reasons == {"too few overlapping labels (9 of at least 10)"}
    tags, pairs = agreement()
    assert [each.tag for each in tags] == list(TAGS)
    collapse = tags[TAGS.index(COLLAPSE)]
    assert (collapse.units, collapse.labels, collapse.raw) == (10, 20, 0.9)
    kappas = {each.tag: each.kappa for each in pairs}
    assert kappas[COLLAPSE] == pytest.approx(0.8)
    assert kappas[EARLY] is None


def test_adjudication_edits_no_label_and_comes_after_ones_own(run: Run, ann: User, bob: User) -> None:
    (his,) = labelled(run, bob, EARLY)
    with pytest.raises(ValidationError, match="labels of your own first"):
        adjudication_create(author=ann, run=run, failure_types=[EARLY], note="so it is")
    (hers,) = labelled(run, ann, COLLAPSE)
    before, agreed = list(Annotation.objects.values()), agreement_labels()
    made = adjudication_create(author=ann, run=run, failure_types=[EARLY], note="so it is")
    assert made.annotations == [his.pk, hers.pk]
    assert (list(Annotation.objects.values()), agreement_labels()) == (before, agreed)
    adjudication_create(author=ann, run=run, failure_types=[], note="neither, after all")
    assert Adjudication.objects.count() == 2


def test_alone_there_is_nothing_to_adjudicate(run: Run, ann: User) -> None:
    labelled(run, ann, COLLAPSE)
    with pytest.raises(ValidationError, match="Nobody else"):
        adjudication_create(author=ann, run=run, failure_types=[], note="alone")


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"failure_type": "Bad luck"}, "failure_type"),
        ({"note": "x" * 10_001}, "note"),
        ({"first_seq": 5, "last_seq": 4}, "last_seq"),
        ({"first_seq": 5, "last_seq": 21}, "last_seq"),
        ({"critical_seq": 21}, "critical_seq"),
    ],
)
def test_a_wrong_value_is_refused_by_name(values: dict[str, object], field: str, run: Run, ann: User) -> None:
    trace = trace_of(run)
    with pytest.raises(ValidationError) as caught:
        annotation_create(author=ann, run=run, trace=trace, **values)  # type: ignore[arg-type]
    assert list(caught.value.message_dict) == [field]
    assert not Annotation.objects.exists()


def test_a_span_of_one_event_needs_one_end(run: Run, ann: User) -> None:
    made = annotation_create(author=ann, run=run, failure_type=COLLAPSE, trace=trace_of(run), last_seq=7)
    assert (made.first_seq, made.last_seq) == (7, 7)


def test_a_span_without_a_transcript_or_of_another_run_is_refused(run: Run, ann: User) -> None:
    with pytest.raises(ValidationError, match="no transcript"):
        annotation_create(author=ann, run=run, failure_type=COLLAPSE, first_seq=1)
    with pytest.raises(ValidationError, match="another run"):
        annotation_create(author=ann, run=run, failure_type=COLLAPSE, trace=trace_of(ended_run()), first_seq=1)


def test_a_run_that_goes_on_is_not_labelled(ann: User) -> None:
    with pytest.raises(ValidationError, match="has not ended"):
        annotation_create(author=ann, run=run_row(state=RunState.RUNNING), failure_type=COLLAPSE)


def test_nothing_is_submitted_without_a_label_and_nothing_twice(run: Run, ann: User) -> None:
    with pytest.raises(ValidationError, match="at least one label"):
        labels_submit(author=ann, run=run)
    labelled(run, ann, "")
    assert not labels_submit(author=ann, run=run)


@pytest.mark.parametrize(
    "make",
    [
        lambda first: Annotation.objects.filter(pk=first.pk).update(first_seq=3, last_seq=2),
        lambda first: Annotation.objects.filter(pk=first.pk).update(first_seq=3),
    ],
)
def test_the_database_refuses_half_a_span(make: Callable[[Annotation], object], run: Run, ann: User) -> None:
    (first,) = labelled(run, ann, COLLAPSE)
    with pytest.raises(IntegrityError), transaction.atomic():
        make(first)
