"""Every page and endpoint tried by its owner, a stranger, a moderator and somebody who is not signed in."""

import io
import json
import zipfile
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from bundles.models import Appeal, Bundle, BundleState, Notification
from bundles.services.moderation import bundle_hide, bundle_publish
from tests.db.bundles.conftest import Make, run_of
from tests.support.people import with_token
from tests.support.rows import run_row

pytestmark = pytest.mark.django_db
JSON = "application/json"
PAGES = ("", "report.json", "archive", "similar/")


@pytest.fixture
def people(owner: Client, stranger: Client, moderator: Client, anonymous: Client) -> dict[str, Client]:
    return {"owner": owner, "stranger": stranger, "moderator": moderator, "anonymous": anonymous}


def statuses(people: dict[str, Client], path: str) -> dict[str, int]:
    return {name: client.get(path).status_code for name, client in people.items()}


def test_who_reads_a_bundle_that_waits(checked: Make, people: dict[str, Client]) -> None:
    start = f"/bundles/{checked().slug}/"
    theirs = {"owner": 200, "stranger": 404, "moderator": 200, "anonymous": 404}
    assert statuses(people, start) == theirs
    assert statuses(people, start + "?piece=1") == theirs
    assert statuses(people, start + "report.json") == theirs
    assert statuses(people, start + "archive") == theirs
    assert statuses(people, "/api/v1" + start) == theirs
    assert statuses(people, start + "similar/") == {"owner": 403, "stranger": 403, "moderator": 200, "anonymous": 302}


def test_who_reads_a_published_one(checked: Make, moderator_user: User, people: dict[str, Client]) -> None:
    bundle = checked()
    bundle_publish(bundle=bundle, actor=moderator_user, reviewed=True)
    start = f"/bundles/{bundle.slug}/"
    everybody = dict.fromkeys(people, 200)
    for path in (start, start + "report.json", "/api/v1" + start, f"/runs/{run_of(bundle).slug}/"):
        assert statuses(people, path) == everybody
    assert statuses(people, start + "archive") == {"owner": 200, "stranger": 404, "moderator": 200, "anonymous": 404}
    page = people["anonymous"].get(start).content.decode()
    assert "moderate" not in page
    assert "by moderator" not in page
    bundle_hide(bundle=bundle, actor=moderator_user, reason="Withdrawn.")
    assert statuses(people, start) == {"owner": 200, "stranger": 404, "moderator": 200, "anonymous": 404}
    assert statuses(people, f"/runs/{run_of(bundle).slug}/")["stranger"] == 404


def test_lists_show_what_may_be_seen(checked: Make, people: dict[str, Client]) -> None:
    slug = checked().slug
    seen = {name: slug in client.get("/bundles/").content.decode() for name, client in people.items()}
    assert seen == {"owner": True, "stranger": False, "moderator": False, "anonymous": False}
    told = {name: client.get("/api/v1/bundles/").json()["results"] for name, client in people.items()}
    assert {name: len(rows) for name, rows in told.items()} == {
        "owner": 1,
        "stranger": 0,
        "moderator": 1,
        "anonymous": 0,
    }
    assert people["moderator"].get("/api/v1/bundles/?mine=1").json()["results"] == []
    assert people["owner"].get("/api/v1/bundles/?state=published").json()["results"] == []
    assert people["owner"].get("/api/v1/bundles/?state=lost").status_code == 400


def test_who_sees_the_upload_page_and_the_queue(people: dict[str, Client]) -> None:
    assert statuses(people, "/bundles/new") == {"owner": 200, "stranger": 200, "moderator": 200, "anonymous": 302}
    queue = {"owner": 403, "stranger": 403, "moderator": 200, "anonymous": 302}
    assert statuses(people, "/bundles/moderation/") == queue
    assert statuses(people, "/notifications/") == {"owner": 200, "stranger": 200, "moderator": 200, "anonymous": 302}
    assert statuses(people, "/api/v1/notifications/") == {
        **dict.fromkeys(("owner", "stranger", "moderator"), 200),
        "anonymous": 401,
    }


def test_only_moderators_moderate(checked: Make, people: dict[str, Client]) -> None:
    bundle = checked()
    before = Bundle.objects.filter(pk=bundle.pk).values().get()
    for action in ("publish", "hide", "flag", "unflag", "ask", "recheck", "regrade"):
        given: dict[str, Any] = {"action": action, "reason": "Because.", "text": "Please.", "number": 1}
        for name, status in (("owner", 403), ("stranger", 403), ("anonymous", 302)):
            assert people[name].post(f"/bundles/{bundle.slug}/moderate/", given).status_code == status
        for name, status in (("owner", 403), ("stranger", 403), ("anonymous", 401)):
            answer = people[name].post(f"/api/v1/bundles/{bundle.slug}/moderate/", given, content_type=JSON)
            assert answer.status_code == status
    assert Bundle.objects.filter(pk=bundle.pk).values().get() == before
    assert people["moderator"].get(f"/bundles/{bundle.slug}/moderate/").status_code == 405


def test_tokens_do_not_moderate(checked: Make, moderator_user: User) -> None:
    bundle = checked()
    client = with_token(moderator_user, "read", "submit", "operate", "annotate")
    given = {"action": "publish", "reviewed": True}
    answer = client.post(f"/api/v1/bundles/{bundle.slug}/moderate/", given, content_type=JSON)
    assert answer.status_code == 403
    bundle.refresh_from_db()
    assert bundle.state == BundleState.ACCEPTED


def test_who_states_contact_and_licence(checked: Make, people: dict[str, Client]) -> None:
    bundle = checked(details={})
    given = {"contact": "ada", "licence": "MIT"}
    path = f"/bundles/{bundle.slug}/terms/"
    for name, status in (("stranger", 404), ("anonymous", 302)):
        assert people[name].post(path, given).status_code == status
    for name, status in (("stranger", 404), ("anonymous", 401)):
        assert people[name].post("/api/v1" + path, given, content_type=JSON).status_code == status
    assert people["owner"].post(path, given).status_code == 302
    assert people["owner"].post("/api/v1" + path, given | {"licence": "CC0"}, content_type=JSON).status_code == 200
    bundle.refresh_from_db()
    assert (bundle.contact, bundle.licence) == ("ada", "CC0")
    assert people["owner"].post(path, {"contact": "ada"}).status_code == 400
    answer = people["owner"].post("/api/v1" + path, {"contact": "ada"}, content_type=JSON)
    assert (answer.status_code, list(answer.json())) == (400, ["licence"])


def test_only_its_owner_appeals(checked: Make, moderator_user: User, people: dict[str, Client]) -> None:
    bundle = checked()
    bundle_hide(bundle=bundle, actor=moderator_user, reason="Withdrawn.")
    path = f"/bundles/{bundle.slug}/appeal/"
    for name, status in (("stranger", 404), ("moderator", 404), ("anonymous", 302)):
        assert people[name].post(path, {"text": "No."}).status_code == status
    for name, status in (("stranger", 404), ("moderator", 403), ("anonymous", 401)):
        assert people[name].post("/api/v1" + path, {"text": "No."}, content_type=JSON).status_code == status
    assert not Appeal.objects.exists()
    assert people["owner"].post("/api/v1" + path, {"text": "No."}, content_type=JSON).status_code == 200
    appeal = Appeal.objects.get()
    decide = f"/bundles/{bundle.slug}/appeals/{appeal.pk}/"
    given = {"verdict": "upheld", "answer": "Right."}
    for name, status in (("owner", 403), ("stranger", 403), ("anonymous", 302)):
        assert people[name].post(decide, given).status_code == status
    assert people["moderator"].post(decide, given | {"verdict": "maybe"}).status_code == 400
    assert people["moderator"].post(f"/bundles/{bundle.slug}/appeals/{appeal.pk + 1}/", given).status_code == 404
    assert people["moderator"].post(decide, given).status_code == 302


def test_notifications_are_ones_own(checked: Make, people: dict[str, Client], owner_user: User) -> None:
    checked()
    assert "1 new" in people["owner"].get("/").content.decode()
    assert "run.zip" in people["owner"].get("/notifications/").content.decode()
    assert "run.zip" not in people["stranger"].get("/notifications/").content.decode()
    assert people["stranger"].post("/notifications/read/").status_code == 302
    assert people["anonymous"].post("/api/v1/notifications/").status_code == 401
    assert Notification.objects.filter(user=owner_user).unread().count() == 1
    assert len(people["owner"].get("/api/v1/notifications/?unread=1").json()["results"]) == 1
    assert people["owner"].post("/api/v1/notifications/").json() == {"read": 1}
    assert " new<" not in people["owner"].get("/").content.decode()


def test_unknown_bundles_are_404(people: dict[str, Client]) -> None:
    for page in PAGES:
        assert people["moderator"].get(f"/bundles/b-nothing/{page}").status_code == 404
    assert people["moderator"].get("/api/v1/bundles/b-nothing/").status_code == 404
    assert people["moderator"].post("/bundles/b-nothing/moderate/", {"action": "publish"}).status_code == 404


def test_who_exports_a_run(checked: Make, people: dict[str, Client]) -> None:
    path = f"/bundles/of/{run_of(checked()).slug}.zip"
    assert statuses(people, path) == {"owner": 200, "stranger": 404, "moderator": 200, "anonymous": 302}
    answer = people["owner"].get(path)
    with zipfile.ZipFile(io.BytesIO(answer.getvalue())) as archive:
        assert "manifest.json" in archive.namelist()
    going = run_row()
    assert people["stranger"].get(f"/bundles/of/{going.slug}.zip").status_code == 409


def test_packer_and_schema_are_for_everybody(people: dict[str, Client]) -> None:
    for path in ("/bundles/agent2_pack.py", "/bundles/manifest-1.0.schema.json"):
        assert statuses(people, path) == dict.fromkeys(people, 200)
    text = people["anonymous"].get("/bundles/agent2_pack.py").content.decode()
    compile(text, "agent2_pack.py", "exec")
    assert json.loads(people["anonymous"].get("/bundles/manifest-1.0.schema.json").content)["required"]
