"""The annotation pages as owner, colleague, stranger and anonymous; others' labels stay hidden until one submits."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchmark.models import Run
from tests.support.annotating import COLLAPSE, EARLY, ended_run, labelled, researcher, trace_of
from tests.support.rows import run_row
from traces.models import Adjudication, Annotation, Labelling, LabellingQueue, Suggestion

pytestmark = pytest.mark.django_db
SECRET = "the reward counted tokens"
RULES = "0 submissions, 0 scored"


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def owner(db: None) -> Client:
    return client_of(researcher("owner", "adjudicate", "add_labellingqueue"))


@pytest.fixture
def colleague(db: None) -> Client:
    return client_of(researcher("colleague"))


@pytest.fixture
def run(owner: Client) -> Run:
    """With a submitted label of the owner's."""
    run = ended_run()
    trace_of(run)
    path = f"/runs/{run.slug}/annotate/"
    owner.post(
        path, {"type": "3", "note": SECRET, "first_seq": "4", "last_seq": "6", "critical_seq": "5", "submit": "1"}
    )
    assert Labelling.objects.get(run=run).submitted_at
    return run


def pages(run: Run) -> list[str]:
    return ["/annotate/", f"/runs/{run.slug}/annotate/", "/agreement/"]


def posts(run: Run) -> list[str]:
    below = f"/runs/{run.slug}/annotate/"
    return [
        below,
        f"{below}submit/",
        f"{below}release/",
        f"{below}decide/",
        "/annotate/queues/",
        "/annotate/queues/1/next/",
    ]


def test_strangers_and_anonymous_people_get_nothing(run: Run, anonymous: Client, stranger: Client) -> None:
    before = Annotation.objects.count()
    for path in [*pages(run), *posts(run)]:
        method = "post" if path in posts(run) and path not in pages(run) else "get"
        asked, refused = getattr(anonymous, method)(path), getattr(stranger, method)(path)
        assert (asked.status_code, asked.headers["Location"].split("?")[0]) == (302, "/login/")
        assert refused.status_code == 403
        assert SECRET not in asked.content.decode() + refused.content.decode()
    given = {"type": "1"}
    assert anonymous.post(f"/runs/{run.slug}/annotate/", given).status_code == 302
    assert stranger.post(f"/runs/{run.slug}/annotate/", given).status_code == 403
    assert Annotation.objects.count() == before


def test_forms_are_posted_only(run: Run, owner: Client) -> None:
    for path in posts(run)[1:]:
        assert owner.get(path).status_code == 405


def test_a_colleague_is_blind_until_submitting(run: Run, colleague: Client) -> None:
    path = f"/runs/{run.slug}/annotate/"
    for _ in range(2):
        page = colleague.get(path).content.decode()
        assert "1 other person has submitted" in page
        assert SECRET not in page
        assert RULES not in page
        assert "owner" not in page
        colleague.post(path, {"type": "4", "note": "mine"})
    answer = colleague.post(f"{path}submit/", follow=True)
    page = answer.content.decode()
    assert SECRET in page
    assert RULES in page
    assert "critical" in page
    assert f"/runs/{run.slug}/trace/?event=4" in page


def test_what_is_added_after_looking_is_marked(run: Run, colleague: Client) -> None:
    path = f"/runs/{run.slug}/annotate/"
    colleague.post(path, {"type": "4", "submit": "1"}, follow=True)
    colleague.post(path, {"type": "3"})
    first, second = Annotation.objects.filter(author__username="colleague").order_by("id")
    assert (first.is_blind, second.is_blind) == (True, False)
    assert second.seen_before["annotations"] == [Annotation.objects.get(author__username="owner").pk]
    assert second.seen_before["suggestions"] == [Suggestion.objects.get().pk]
    assert "not blind" in colleague.get(path).content.decode()


def test_the_report_and_the_run_page_keep_the_rules_to_themselves(
    run: Run, owner: Client, colleague: Client, anonymous: Client
) -> None:
    report, page = f"/runs/{run.slug}/report.md", f"/runs/{run.slug}/routes/"

    def shows(client: Client) -> set[bool]:
        return {RULES in client.get(path).content.decode() for path in (report, page)}

    assert shows(colleague) == {False}
    assert shows(owner) == {True}
    assert shows(anonymous) == {True}, "nobody is known to be labelling it"
    queue = LabellingQueue.objects.create(name="Study", annotators=2)
    queue.places.create(run=run, position=1)
    assert shows(anonymous) == {False}, "signing out is no way around"
    assert "Withheld until the run is labelled" in anonymous.get(report).content.decode()
    colleague.post(f"/runs/{run.slug}/annotate/", {"type": "4", "submit": "1"})
    assert shows(colleague) == shows(anonymous) == {True}
    colleague.post(f"/runs/{run.slug}/annotate/", {"type": "3"})
    assert Annotation.objects.latest("id").seen_before["suggestions"] == [Suggestion.objects.get().pk]


def test_a_wrong_form_says_what_is_wrong_and_keeps_what_was_written(run: Run, colleague: Client) -> None:
    path = f"/runs/{run.slug}/annotate/"
    given = {"type": "2", "note": "<b>long</b> thought", "first_seq": "4", "last_seq": "99", "critical_seq": "x"}
    answer = colleague.post(path, given)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Enter a whole number" in page
    assert "&lt;b&gt;long&lt;/b&gt; thought" in page
    page = colleague.post(path, given | {"critical_seq": ""}).content.decode()
    assert "The transcript has events 1 to 20." in page
    assert 'value="99"' in page
    assert 'value="2" checked' in page
    assert "Choose one" in colleague.post(path, given | {"type": ""}).content.decode()
    assert not Annotation.objects.filter(author__username="colleague").exists()


def test_a_revision_is_prefilled_and_ones_own_alone(run: Run, owner: Client, colleague: Client) -> None:
    path, label = f"/runs/{run.slug}/annotate/", Annotation.objects.get()
    page = owner.get(f"{path}?revises={label.pk}").content.decode()
    assert 'value="3" checked' in page
    assert f'name="revises" value="{label.pk}"' in page
    assert SECRET not in colleague.get(f"{path}?revises={label.pk}").content.decode()
    refused = colleague.post(path, {"type": "1", "revises": str(label.pk)})
    assert refused.status_code == 422
    assert "not there any more" in refused.content.decode()
    assert owner.post(path, {"type": "1", "revises": str(label.pk)}).status_code == 302
    assert Annotation.objects.latest("id").revises == label


def test_a_link_from_the_trace_fills_the_span(run: Run, colleague: Client) -> None:
    page = colleague.get(f"/runs/{run.slug}/annotate/?first_seq=7&last_seq=9&type=2").content.decode()
    assert 'name="first_seq" value="7"' in page
    assert 'name="last_seq" value="9"' in page
    assert 'value="2" checked' in page


def test_a_run_under_way_cannot_be_labelled(colleague: Client) -> None:
    going = run_row()
    path = f"/runs/{going.slug}/annotate/"
    assert "The run has not ended" in colleague.get(path).content.decode()
    assert colleague.post(path, {"type": "1"}).status_code == 422


def test_without_a_label_nothing_is_submitted(run: Run, colleague: Client) -> None:
    answer = colleague.post(f"/runs/{run.slug}/annotate/submit/")
    assert answer.status_code == 422
    assert "at least one label" in answer.content.decode()
    assert SECRET not in answer.content.decode()


def test_only_who_may_adjudicate_decides_and_only_after_labelling(run: Run, owner: Client, colleague: Client) -> None:
    path = f"/runs/{run.slug}/annotate/decide/"
    given = {"types": ["3", "4"], "note": "both"}
    early = owner.post(path, given)
    assert (early.status_code, "Nobody else has submitted" in early.content.decode()) == (422, True)
    labelled(run, User.objects.get(username="colleague"), EARLY)
    assert colleague.post(path, given).status_code == 403
    assert owner.post(path, given).status_code == 302
    assert Adjudication.objects.get().failure_types == [COLLAPSE, EARLY]
    assert "both" in owner.get(f"/runs/{run.slug}/annotate/").content.decode()
    newcomer = client_of(researcher("newcomer"))
    assert "both" not in newcomer.get(f"/runs/{run.slug}/annotate/").content.decode()


def test_queues_are_made_by_who_may_and_followed(run: Run, owner: Client, colleague: Client) -> None:
    assert "No queue yet" in colleague.get("/annotate/").content.decode()
    given = {"name": "Study", "annotators": "2", "runs": f"{run.slug}\n"}
    assert colleague.post("/annotate/queues/", given).status_code == 403
    wrong = owner.post("/annotate/queues/", given | {"runs": "nothing", "annotators": "two"})
    assert wrong.status_code == 422
    assert "No such run: nothing" in wrong.content.decode()
    assert owner.post("/annotate/queues/", given).status_code == 302
    queue = LabellingQueue.objects.get()
    assert "Take the next run" in colleague.get("/annotate/").content.decode()
    taken = colleague.post(f"/annotate/queues/{queue.pk}/next/")
    assert taken.headers["Location"] == f"/runs/{run.slug}/annotate/"
    assert "Continue" in colleague.get("/annotate/").content.decode()
    assert "Give this run back" in colleague.get(f"/runs/{run.slug}/annotate/").content.decode()
    colleague.post(f"/runs/{run.slug}/annotate/release/")
    assert "Take the next run" in colleague.get("/annotate/").content.decode()
    done = owner.post(f"/annotate/queues/{queue.pk}/next/", follow=True)
    assert "Nothing is left for you" in done.content.decode()


def test_agreement_shows_numbers_only_where_there_are_enough(owner: Client) -> None:
    assert "No run has labels of two people yet" in owner.get("/agreement/").content.decode()
    people = [researcher("ann"), researcher("bob")]
    for number in range(10):
        run = ended_run()
        for place, person in enumerate(people):
            labelled(run, person, COLLAPSE if number < 5 - place else "")
        if number == 5:
            assert "too few overlapping labels (6 of at least 10)" in owner.get("/agreement/").content.decode()
    page = owner.get("/agreement/").content.decode()
    assert "too few" not in page
    assert "no variation: every label lacks the tag" in page
    assert '<td class="num">0.80</td><td class="num">90%</td><td class="num">45%</td><td class="num">10</td>' in page
    queue = LabellingQueue.objects.create(name="Other", annotators=2)
    assert "too few overlapping labels (0" in owner.get(f"/agreement/?queue={queue.pk}").content.decode()
    assert owner.get("/agreement/?queue=999").status_code == 404


def test_the_navigation_names_it_only_to_who_may(owner: Client, stranger: Client) -> None:
    assert 'href="/annotate/"' in owner.get("/runs/").content.decode()
    assert 'href="/annotate/"' not in stranger.get("/runs/").content.decode()
