"""tus: announcing, sending in pieces, finishing, expiring; by session and by token."""

import hashlib
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from bundles.jobs import bundles_sweep
from bundles.models import Bundle, BundleState, Upload
from bundles.services import uploads
from bundles.services.checking import bundle_check_next
from tests.support.bundling import bundle_bytes
from tests.support.people import person, signed_in, with_token
from tests.support.tus import metadata

pytestmark = pytest.mark.django_db
TUS: dict[str, Any] = {"tus-resumable": "1.0.0"}
OCTETS = "application/offset+octet-stream"
DATA = bundle_bytes()


def announce(client: Client, size: int = len(DATA), filename: str = "run.zip", **told: str) -> Any:
    headers = TUS | {"upload-length": str(size), "upload-metadata": metadata(filename=filename, **told)}
    return client.post("/bundles/upload/", headers=headers)


def patch(client: Client, place: str, offset: int, data: bytes, **more: Any) -> Any:
    headers = TUS | {"upload-offset": str(offset)}
    return client.patch(place, data, content_type=more.pop("content_type", OCTETS), headers=headers | more)


def head(client: Client, place: str) -> Any:
    return client.head(place, headers=TUS)


def test_what_the_server_can(anonymous: Client) -> None:
    answer = anonymous.options("/bundles/upload/")
    assert answer.status_code == 204
    assert answer.headers["Tus-Version"] == "1.0.0"
    assert answer.headers["Tus-Extension"] == "creation,expiration,termination"
    assert int(answer.headers["Tus-Max-Size"]) == uploads.size_most()


def test_an_archive_in_three_pieces_becomes_a_bundle(owner: Client, owner_user: User) -> None:
    answer = announce(owner)
    assert answer.status_code == 201
    place = answer.headers["Location"]
    assert "Upload-Expires" in answer.headers
    assert head(owner, place).headers["Upload-Offset"] == "0"
    for start, end in ((0, 100), (100, 700)):
        answer = patch(owner, place, start, DATA[start:end])
        assert (answer.status_code, answer.headers["Upload-Offset"]) == (204, str(end))
        assert head(owner, place).headers["Upload-Offset"] == str(end)
        assert not Bundle.objects.exists()
    answer = patch(owner, place, 700, DATA[700:])
    bundle = Bundle.objects.get()
    digest = hashlib.sha256(DATA).hexdigest()
    assert answer.headers["Bundle-Location"] == f"/bundles/{bundle.slug}/"
    assert answer.headers["Bundle-Sha256"] == bundle.sha256 == digest
    assert (bundle.owner, bundle.state, bundle.filename) == (owner_user, BundleState.RECEIVED, "run.zip")
    assert bundle.path.read_bytes() == DATA
    assert bundle.path.stat().st_mode & 0o777 == 0o440
    assert head(owner, place).headers["Bundle-Location"] == f"/bundles/{bundle.slug}/"
    assert patch(owner, place, len(DATA), b"more").status_code == 204
    assert patch(owner, place, 0, DATA).status_code == 409
    assert Bundle.objects.count() == 1
    assert bundle.path.read_bytes() == DATA


def test_only_its_owner_goes_on(owner: Client, stranger: Client, moderator: Client, anonymous: Client) -> None:
    assert announce(anonymous).status_code == 401
    place = announce(owner).headers["Location"]
    for client, status in ((stranger, 404), (moderator, 404), (anonymous, 401)):
        assert head(client, place).status_code == status
        assert patch(client, place, 0, b"x").status_code == status
        assert client.delete(place, headers=TUS).status_code == status
    assert head(owner, place).headers["Upload-Offset"] == "0"


def test_tokens_need_the_scope(owner_user: User) -> None:
    assert announce(with_token(owner_user, "submit")).status_code == 201
    assert announce(with_token(owner_user, "read")).status_code == 403
    place = announce(with_token(owner_user, "submit")).headers["Location"]
    assert head(with_token(owner_user, "submit"), place).status_code == 200
    wrong = Client(headers={"authorization": "Bearer nonsense"})
    answer = announce(wrong)
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_a_session_needs_the_forms_token(owner_user: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(owner_user)
    assert announce(strict).status_code == 403
    strict.get("/bundles/new")
    headers = TUS | {"upload-length": "9", "upload-metadata": metadata(filename="a.zip")}
    headers["x-csrftoken"] = strict.cookies["csrftoken"].value
    assert strict.post("/bundles/upload/", headers=headers).status_code == 201


@pytest.mark.parametrize(
    ("size", "filename", "told", "status", "says"),
    [
        (0, "run.zip", {}, 400, "empty"),
        (10**15, "run.zip", {}, 413, "at most"),
        (9, "run.exe", {}, 400, "must end in"),
        (9, "", {}, 400, "must name the file"),
        (9, "run.zip", {"sha256": "xyz"}, 400, "sha256"),
        (9, "run.zip", {"version_of": "b-nothing"}, 400, "you have no bundle"),
        (9, "run.zip", {"details": "{"}, 400, "details"),
        (9, "run.zip", {"details": '{"files": []}'}, 400, "details"),
        (9, "run.zip", {"details": '{"mode": "wild"}'}, 400, "mode"),
        (9, "run.zip", {"details": '{"budget_s": NaN}'}, 400, "budget_s"),
    ],
)
def test_what_cannot_be_taken_is_said_at_once(
    owner: Client, size: int, filename: str, told: dict[str, str], status: int, says: str
) -> None:
    answer = announce(owner, size, filename, **told)
    assert (answer.status_code, says in answer.content.decode()) == (status, True), answer.content
    assert not Upload.objects.exists()


@pytest.mark.parametrize(
    ("headers", "status", "says"),
    [
        ({"tus-resumable": "0.2.2"}, 412, "1.0.0"),
        ({"upload-length": "ten"}, 400, "Upload-Length"),
        ({"upload-length": "-1"}, 400, "Upload-Length"),
        ({"upload-metadata": "filename ???"}, 400, "base64"),
        ({"upload-metadata": "filename /w=="}, 400, "base64"),
        ({"upload-metadata": "a" * 7000}, 400, "characters"),
    ],
)
def test_bad_headers_are_named(owner: Client, headers: dict[str, str], status: int, says: str) -> None:
    good = TUS | {"upload-length": "9", "upload-metadata": metadata(filename="a.zip")}
    answer = owner.post("/bundles/upload/", headers=good | headers)
    assert (answer.status_code, says in answer.content.decode()) == (status, True), answer.content


def test_names_lose_what_confuses_a_page(owner: Client) -> None:
    announce(owner, filename="..\\..\\etc/\u202egpj.zip")
    assert Upload.objects.get().filename == "�gpj.zip"


def test_wrong_offsets_and_types_change_nothing(owner: Client) -> None:
    place = announce(owner).headers["Location"]
    patch(owner, place, 0, DATA[:50])
    assert patch(owner, place, 0, DATA[:50]).status_code == 409
    assert patch(owner, place, 51, DATA[51:]).status_code == 409
    assert patch(owner, place, 50, b"x", content_type="application/json").status_code == 415
    assert owner.patch(place, b"x", content_type=OCTETS, headers=TUS).status_code == 400
    assert owner.get(place, headers=TUS).status_code == 405
    assert head(owner, place).headers["Upload-Offset"] == "50"


def test_more_than_announced_is_refused_and_the_rest_is_kept(owner: Client) -> None:
    place = announce(owner).headers["Location"]
    assert patch(owner, place, 0, DATA + b"more").status_code == 413
    answer = head(owner, place)
    assert answer.headers["Upload-Offset"] == str(len(DATA))
    assert "Bundle-Location" in answer.headers
    assert Bundle.objects.get().path.read_bytes() == DATA


def test_a_wrong_digest_is_sent_again(owner: Client) -> None:
    place = announce(owner, sha256="0" * 64).headers["Location"]
    answer = patch(owner, place, 0, DATA)
    assert answer.status_code == 460
    assert hashlib.sha256(DATA).hexdigest() in answer.content.decode()
    assert head(owner, place).status_code == 404
    assert not Bundle.objects.exists()


def test_deleting(owner: Client, settings: Any) -> None:
    place = announce(owner).headers["Location"]
    patch(owner, place, 0, DATA[:50])
    assert owner.delete(place, headers=TUS).status_code == 204
    assert head(owner, place).status_code == 404
    assert not list((Path(settings.BUNDLES_DIR) / "quarantine").iterdir())
    place = announce(owner).headers["Location"]
    patch(owner, place, 0, DATA)
    assert owner.delete(place, headers=TUS).status_code == 409


def test_late_uploads_expire_and_free_their_quota(owner: Client, settings: Any) -> None:
    place = announce(owner).headers["Location"]
    patch(owner, place, 0, DATA[:50])
    Upload.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    bundles_sweep()
    assert head(owner, place).status_code == 404
    assert not list((Path(settings.BUNDLES_DIR) / "quarantine").iterdir())


def test_the_quota_counts_what_is_announced(owner: Client, stranger: Client, settings: Any) -> None:
    settings.BUNDLE_QUOTA_GB = 2.5 * len(DATA) / 1024**3
    places = [announce(owner).headers["Location"] for _ in range(2)]
    answer = announce(owner)
    assert (answer.status_code, "quota" in answer.content.decode()) == (413, True)
    assert announce(stranger).status_code == 201
    patch(owner, places[0], 0, DATA)
    assert announce(owner).status_code == 413
    owner.delete(places[1], headers=TUS)
    assert announce(owner).status_code == 201


def test_open_uploads_are_few(owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "OPEN_MOST", 2)
    assert [announce(owner).status_code for _ in range(3)] == [201, 201, 429]


def test_the_same_archive_again_is_the_same_bundle(owner: Client) -> None:
    places = [patch(owner, announce(owner).headers["Location"], 0, DATA).headers["Bundle-Location"] for _ in range(2)]
    assert places[0] == places[1]
    assert Bundle.objects.count() == 1


def test_a_corrected_upload_is_a_version_of_the_old(owner: Client) -> None:
    patch(owner, announce(owner).headers["Location"], 0, DATA)
    first = Bundle.objects.get()
    other = bundle_bytes((61.0, 62.0))
    place = announce(owner, len(other), version_of=first.slug).headers["Location"]
    patch(owner, place, 0, other)
    second = Bundle.objects.exclude(pk=first.pk).get()
    assert (second.version, second.version_of) == (2, first)
    assert first.path.read_bytes() == DATA
    assert bundle_check_next()
    assert bundle_check_next()
    page = owner.get(f"/bundles/{second.slug}/").content.decode()
    assert f"/bundles/{first.slug}/" in page


def test_details_go_along(owner: Client) -> None:
    told = {"licence": "MIT", "agent": {"name": "claude"}}
    patch(owner, announce(owner, details=json.dumps(told)).headers["Location"], 0, DATA)
    assert Bundle.objects.get().details == told


def test_what_dead_processes_left_is_removed(owner: Client, settings: Any) -> None:
    place = announce(owner).headers["Location"]
    patch(owner, place, 0, DATA[:50])
    folder = Path(settings.BUNDLES_DIR)
    (folder / "checking" / "b-1-xyz" / "files").mkdir(parents=True)
    (folder / "checking" / "b-2-new").mkdir()
    (folder / "quarantine" / "orphan").write_bytes(b"x")
    for path in (*(folder / "quarantine").iterdir(), folder / "checking" / "b-1-xyz"):
        os.utime(path, (1, 1))
    bundles_sweep()
    assert [path.name for path in (folder / "checking").iterdir()] == ["b-2-new"]
    assert len(list((folder / "quarantine").iterdir())) == 1
    assert head(owner, place).headers["Upload-Offset"] == "50"


def test_uploading_needs_the_role(db: None) -> None:
    visitor = signed_in(person("visitor", "visitor"))
    answer = announce(visitor)
    assert answer.status_code == 403
    assert "submitter" in answer.content.decode()
    assert "the role <b>submitter</b>" in visitor.get("/bundles/new").content.decode()
    assert not Bundle.objects.exists()
