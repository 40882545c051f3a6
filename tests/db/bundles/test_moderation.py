"""Publishing, hiding, flagging, asking, appealing: what changes, who is told, what is recorded."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.exceptions import ValidationError
from django.test import Client

from benchmark.models import AuditEntry, Trust
from bundles.models import AppealState, Bundle, BundleState, Notification
from bundles.services.appeals import appeal_decide, appeal_open
from bundles.services.moderation import bundle_ask, bundle_flag, bundle_hide, bundle_publish, bundle_recheck
from bundles.services.notifications import notification_send, notifications_mail
from grading.models import TaskStanding
from tests.db.bundles.conftest import Make, run_of
from tests.support.bundling import bundle_bytes

pytestmark = pytest.mark.django_db
JSON = "application/json"


def told(user: User) -> list[str]:
    return list(Notification.objects.filter(user=user).order_by("id").values_list("text", flat=True))


def test_publishing_shows_the_run_as_reviewed(
    checked: Make, moderator: Client, anonymous: Client, owner_user: User
) -> None:
    bundle = checked()
    slug = run_of(bundle).slug
    assert slug not in anonymous.get("/runs/").content.decode()
    answer = moderator.post(f"/bundles/{bundle.slug}/moderate/", {"action": "publish", "reviewed": "1"})
    assert answer.status_code == 302
    bundle.refresh_from_db()
    assert (bundle.state, run_of(bundle).hidden, run_of(bundle).trust) == (BundleState.PUBLISHED, False, Trust.REVIEWED)
    assert slug in anonymous.get("/runs/").content.decode()
    assert told(owner_user)[-1] == "run.zip: it is published."
    entry = AuditEntry.objects.get(action="run.trust")
    assert (entry.actor_name, entry.subject, entry.data["before"], entry.data["after"]) == (
        *("moderator", slug, "checked", "reviewed"),
    )
    again = moderator.post(f"/bundles/{bundle.slug}/moderate/", {"action": "publish"})
    assert (again.status_code, "only one that is" in again.content.decode()) == (400, True)


def test_publishing_without_reading_keeps_the_trust(checked: Make, moderator_user: User) -> None:
    bundle = checked()
    bundle_publish(bundle=bundle, actor=moderator_user, reviewed=False)
    assert (run_of(bundle).hidden, run_of(bundle).trust) == (False, Trust.CHECKED)


def test_without_contact_and_licence_nothing_is_published(checked: Make, moderator: Client, owner: Client) -> None:
    bundle = checked(details={})
    answer = moderator.post(f"/bundles/{bundle.slug}/moderate/", {"action": "publish"})
    assert (answer.status_code, "no contact and no licence" in answer.content.decode()) == (400, True)
    owner.post(f"/bundles/{bundle.slug}/terms/", {"contact": "ada", "licence": "MIT"})
    assert moderator.post(f"/bundles/{bundle.slug}/moderate/", {"action": "publish"}).status_code == 302


def test_a_flag_puts_raw_final_and_reason_side_by_side(
    checked: Make, moderator: Client, moderator_user: User, anonymous: Client
) -> None:
    bundle = checked()
    bundle_publish(bundle=bundle, actor=moderator_user, reviewed=True)
    given = {"action": "flag", "reason": "Trained on held-out items.", "final": "61"}
    assert moderator.post(f"/bundles/{bundle.slug}/moderate/", given).status_code == 302
    row = TaskStanding.objects.get(run=bundle.run)
    assert (row.best, row.final, row.value, row.flag_reason) == (70.5, 61.0, 61.0, "Trained on held-out items.")
    for path in (f"/bundles/{bundle.slug}/", f"/runs/{run_of(bundle).slug}/"):
        page = anonymous.get(path).content.decode()
        for part in ("<s>70.50</s>", "61.00", "Trained on held-out items.", "flagged"):
            assert part in page
    moderator.post(f"/bundles/{bundle.slug}/moderate/", {"action": "unflag", "reason": "It was not."})
    row.refresh_from_db()
    assert (row.final, row.value, row.flag_reason, run_of(bundle).trust) == (None, 70.5, "", Trust.REVIEWED)
    moves = AuditEntry.objects.filter(action="run.trust").order_by("id").values_list("data__after", flat=True)
    assert list(moves) == ["reviewed", "flagged", "reviewed"]


NONSENSE = (
    ({"action": "flag", "reason": ""}, "reason"),
    ({"action": "flag", "reason": "x", "final": "101"}, "final"),
    ({"action": "flag", "reason": "x", "final": "nan"}, "final"),
    ({"action": "flag", "reason": "x" * 5000}, "reason"),
    ({"action": "hide", "reason": " "}, "reason"),
    ({"action": "ask", "text": ""}, "text"),
    ({"action": "unflag", "reason": "x"}, "state"),
    ({"action": "recheck"}, "state"),
    ({"action": "regrade"}, "number"),
    ({"action": "regrade", "number": "1"}, "number"),
    ({"action": "delete"}, "action"),
)


def test_nonsense_is_named_and_changes_nothing(checked: Make, moderator: Client) -> None:
    bundle = checked()
    before = Bundle.objects.filter(pk=bundle.pk).values().get()
    for given, field in NONSENSE:
        answer = moderator.post(f"/bundles/{bundle.slug}/moderate/", given)
        assert (answer.status_code, f"{field}: " in answer.content.decode()) == (400, True), given
    assert Bundle.objects.filter(pk=bundle.pk).values().get() == before


def test_the_api_says_the_same(checked: Make, moderator: Client) -> None:
    path = f"/api/v1/bundles/{checked().slug}/moderate/"
    answer = moderator.post(path, {"action": "flag", "reason": "x", "final": 101}, content_type=JSON)
    assert (answer.status_code, list(answer.json())) == (400, ["final"])
    answer = moderator.post(path, {"action": "flag", "reason": "x", "final": None}, content_type=JSON)
    assert (answer.status_code, answer.json()["trust"]) == (200, "flagged")
    assert TaskStanding.objects.get().value is None


def test_asking_for_changes(checked: Make, moderator_user: User, moderator: Client, owner: Client) -> None:
    bundle = checked()
    bundle_ask(bundle=bundle, actor=moderator_user, text="Add <seeds>.")
    page = owner.get(f"/bundles/{bundle.slug}/").content.decode()
    assert "Add &lt;seeds&gt;." in page
    assert "changes asked for" in page
    assert bundle.slug not in moderator.get("/bundles/moderation/").content.decode()
    assert bundle.slug in moderator.get("/bundles/moderation/?list=asked").content.decode()


def test_a_new_version_takes_the_place_of_the_old(checked: Make, moderator_user: User) -> None:
    first = checked()
    bundle_publish(bundle=first, actor=moderator_user, reviewed=True)
    second = checked(bundle_bytes((61.0, 72.0)), version_of=first.slug)
    first.refresh_from_db()
    assert (first.state, second.state) == (BundleState.PUBLISHED, BundleState.ACCEPTED)
    bundle_publish(bundle=second, actor=moderator_user, reviewed=True)
    for bundle in (first, second):
        bundle.refresh_from_db()
    assert (first.state, run_of(first).hidden) == (BundleState.HIDDEN, True)
    assert (second.state, run_of(second).hidden) == (BundleState.PUBLISHED, False)


@pytest.mark.parametrize("uphold", [True, False])
def test_an_appeal_is_decided(checked: Make, moderator_user: User, owner_user: User, uphold: bool) -> None:
    bundle = checked()
    bundle_publish(bundle=bundle, actor=moderator_user, reviewed=True)
    with pytest.raises(ValidationError):
        appeal_open(bundle=bundle, author=owner_user, text="But nothing happened.")
    bundle_flag(bundle=bundle, actor=moderator_user, reason="Looks odd.", final=None)
    bundle_hide(bundle=bundle, actor=moderator_user, reason="Until it is clear.")
    appeal = appeal_open(bundle=bundle, author=owner_user, text="It is right.")
    with pytest.raises(ValidationError):
        appeal_open(bundle=bundle, author=owner_user, text="Once more.")
    appeal_decide(appeal=appeal, actor=moderator_user, uphold=uphold, answer="We looked.")
    bundle.refresh_from_db()
    after = (BundleState.PUBLISHED, False, Trust.REVIEWED) if uphold else (BundleState.HIDDEN, True, Trust.FLAGGED)
    assert (bundle.state, run_of(bundle).hidden, run_of(bundle).trust) == after
    assert appeal.state == (AppealState.UPHELD if uphold else AppealState.DISMISSED)
    assert any(f"your appeal was {appeal.state}. We looked." in text for text in told(owner_user))
    with pytest.raises(ValidationError):
        appeal_decide(appeal=appeal, actor=moderator_user, uphold=True, answer="Again.")


def test_a_rejected_bundle_is_checked_once_more(checked: Make, moderator_user: User) -> None:
    bundle = checked(b"PK\x03\x04 nothing")
    bundle_recheck(bundle=bundle, actor=moderator_user)
    assert (bundle.state, bundle.attempts, bundle.report) == (BundleState.RECEIVED, 0, {})


def test_similar_runs_stand_side_by_side(checked: Make, moderator: Client, moderator_user: User) -> None:
    other = checked(bundle_bytes((65.0,)))
    bundle_publish(bundle=other, actor=moderator_user, reviewed=True)
    bundle = checked()
    page = moderator.get(f"/bundles/{bundle.slug}/similar/").content.decode()
    assert run_of(other).slug in page
    for part in ("65.00", "70.50", "reviewed"):
        assert part in page.lower()


def test_mail_goes_out_once_where_it_is_configured(owner_user: User, settings: Any) -> None:
    settings.EMAIL_HOST = "mail.example"
    owner_user.email = "owner@example.org"
    owner_user.save()
    notification_send(user=owner_user, text="run.zip was checked.\r\nBut:\rsee there", path="/bundles/b-1/")
    assert [notifications_mail(), notifications_mail()] == [1, 0]
    (message,) = mail.outbox
    assert message.to == ["owner@example.org"]
    assert message.subject == "Agent² RL-Bench: run.zip was checked. But: see there"
    assert f"{settings.PUBLIC_URL}/bundles/b-1/" in message.body


def test_a_mail_server_that_is_away_loses_nothing(owner_user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    owner_user.email = "owner@example.org"
    owner_user.save()
    notification_send(user=owner_user, text="run.zip was checked.")

    def away(*_: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr("bundles.services.notifications.send_mail", away)
    assert notifications_mail() == 0
    monkeypatch.undo()
    assert notifications_mail() == 1
