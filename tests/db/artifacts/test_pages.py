"""Pages over files that lie in object storage alone: shown as before, 503 while it is away, and closed to strangers."""

import hashlib
import io
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import AsyncClient, Client

from benchmark.artifacts.contract import StorageUnavailable
from benchmark.services.artifacts_storing import artifacts_store
from bundles.models import Bundle, BundleState
from bundles.services.checking import bundle_check_next
from bundles.services.regrade_request import regrade_next
from grading.models import Submission
from tests.db.artifacts.world import World, world
from tests.support.object_storage import ObjectServer
from tests.support.people import person, signed_in
from tests.support.rows import submission_row
from traces.models import MethodLabel
from traces.services.labels import label_next

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
AWAY = "lies in the object storage, which cannot be reached now"


@pytest.fixture
def owner(db: None) -> Client:
    return signed_in(person("owner", "submitter", "researcher"))


@pytest.fixture
def away(site: ObjectServer, owner: Client, tmp_path: Path) -> World:
    """Everything is stored, and no copy is left on the disk."""
    made = world(User.objects.get(username="owner"), tmp_path)
    artifacts_store()
    made.age()
    call_command("prune", verbosity=0, stdout=io.StringIO())
    assert made.files() == {}
    return made


def pages(made: World) -> dict[str, str]:
    """Address → what stands there only when the file was read."""
    run, key = f"/runs/{made.run.slug}", made.trace.key
    return {
        f"{run}/trace/{key}/2/": "I look around.",
        f"{run}/trace/rows.json?after=0": "I look around.",
        f"{run}/trace/search.json?q=look+around": '"more": false',
        f"{run}/trace/{key}/whole.jsonl": "I look around.",
        f"{run}/trace/{key}/whole.log": "claude_code_version",
        f"{run}/submissions/1..2/diff": "a = 2",
        f"{run}/submissions/1/records/": ">7<",
    }


def body(answer: Any) -> str:
    content = answer.getvalue() if answer.streaming else answer.content
    return str(content.decode())


@pytest.mark.parametrize("number", range(7))
def test_every_page_is_503_while_the_storage_is_away_and_whole_when_it_is_back(
    site: ObjectServer, away: World, owner: Client, number: int
) -> None:
    address, told = list(pages(away).items())[number]
    site.gate.shut()
    answer = owner.get(address, headers={"accept": "text/html"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert AWAY in answer.content.decode()
    asked_by_script = owner.get(address)
    assert asked_by_script.status_code == 503
    assert AWAY in asked_by_script.json()["error"]
    site.gate.open()
    answer = owner.get(address)
    assert answer.status_code == 200
    assert told in body(answer)
    site.gate.shut()
    assert told in body(owner.get(address)), "a copy is here now"


def test_marks_of_a_trace_are_not_remembered_as_missing(site: ObjectServer, away: World, owner: Client) -> None:
    """What an outage hides is not put into the cache as something that is not there."""
    address = f"/runs/{away.run.slug}/trace/outline/"
    site.gate.shut()
    assert owner.get(address).status_code == 503
    site.gate.open()
    assert owner.get(address).status_code == 200


def test_the_run_is_exported_whole_or_not_at_all(site: ObjectServer, away: World, owner: Client) -> None:
    address = f"/bundles/of/{away.run.slug}.zip"
    site.gate.shut()
    assert owner.get(address).status_code == 503
    site.gate.open()
    answer = owner.get(address)
    content = answer.getvalue()
    assert answer["Content-Length"] == str(len(content))
    assert b"code/1/train.py" in content
    assert b"transcripts/01-" in content


def test_the_archive_is_sent_without_a_copy_here(site: ObjectServer, away: World, owner: Client) -> None:
    answer = owner.get(f"/bundles/{away.bundle.slug}/archive", headers={"accept-encoding": "gzip"})
    assert hashlib.sha256(answer.getvalue()).hexdigest() == away.bundle.sha256
    assert answer["Content-Length"] == str(away.bundle.size)
    assert answer["Content-Disposition"] == 'attachment; filename="run.zip"'
    assert answer["Content-Type"] == "application/zip"
    assert away.files() == {}


async def test_under_asgi_the_archive_is_sent_piece_by_piece(
    site: ObjectServer, settings: Any, tmp_path: Path, transactional_db: None
) -> None:
    def made() -> tuple[User, Bundle]:
        user = person("sender", "submitter")
        bundle = world(user, tmp_path).bundle
        bundle.path.chmod(0o640)
        bundle.path.write_bytes(b"0123456789abcdef" * (5 << 16))
        Bundle.objects.filter(pk=bundle.pk).update(size=5 << 20)
        return user, bundle

    user, bundle = await sync_to_async(made)()
    client = AsyncClient()
    await client.aforce_login(user)
    answer: Any = await client.get(f"/bundles/{bundle.slug}/archive")
    assert answer.is_async
    assert [len(piece) async for piece in answer.streaming_content] == [1 << 20] * 5


@pytest.mark.parametrize("who", ["anonymous", "stranger"])
def test_an_archive_in_object_storage_is_for_its_owner_alone(away: World, who: str) -> None:
    client = Client() if who == "anonymous" else signed_in(person("stranger", "submitter"))
    answer = client.get(f"/bundles/{away.bundle.slug}/archive")
    assert answer.status_code in (302, 404)
    assert away.files() == {}


def test_an_upload_is_taken_and_checked_while_the_storage_is_away(
    site: ObjectServer, owner: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bundles.services.checking.repeated", lambda *_, **__: nullcontext())
    site.gate.shut()
    bundle = world(User.objects.get(username="owner"), tmp_path).bundle
    assert bundle_check_next() is True
    bundle.refresh_from_db()
    assert bundle.state == BundleState.ACCEPTED
    site.gate.open()
    artifacts_store()
    assert f"bench/one/bundles/{bundle.stored}" in site.names()


def test_a_check_waits_for_an_archive_that_cannot_be_reached(
    site: ObjectServer, away: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bundles.services.checking.repeated", lambda *_, **__: nullcontext())
    site.gate.shut()
    for _ in range(5):
        assert bundle_check_next() is False
    away.bundle.refresh_from_db()
    assert (away.bundle.state, away.bundle.attempts) == (BundleState.RECEIVED, 0)
    site.gate.open()
    assert bundle_check_next() is True
    away.bundle.refresh_from_db()
    assert away.bundle.state == BundleState.ACCEPTED


def test_a_regrade_waits_for_its_archive_too(site: ObjectServer, away: World) -> None:
    away.run.origin = "external"
    away.run.save()
    Bundle.objects.filter(pk=away.bundle.pk).update(run=away.run)
    waiting = submission_row(away.run, intake={"regrade": "asked"})
    site.gate.shut()
    assert regrade_next() is False
    waiting.refresh_from_db()
    assert (waiting.intake, waiting.lease) == ({"regrade": "asked"}, "")
    assert Submission.objects.filter(intake__regrade="failed").count() == 0


def test_code_that_cannot_be_reached_gets_no_label_yet(site: ObjectServer, away: World) -> None:
    site.gate.shut()
    with pytest.raises(StorageUnavailable):
        label_next()
    assert not MethodLabel.objects.exists()
    site.gate.open()
    assert label_next() is True
    label = MethodLabel.objects.get()
    assert label.files_seen == 2, json.dumps(label.notes)
