"""The four people of every endpoint, an own folder for archives, and bundles."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from benchmark.models import Run
from bundles.models import Bundle
from bundles.services.checking import bundle_check_next
from bundles.services.uploads import upload_create, upload_finish
from tests.support.bundling import DETAILS, bundle_bytes
from tests.support.people import person

Make = Callable[..., Bundle]


def run_of(bundle: Bundle) -> Run:
    """As it is in the database now."""
    return Run.objects.get(bundle=bundle)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Own folders; and no heartbeat, whose own connection cannot see the test's transaction (journeys have it)."""
    settings.BUNDLES_DIR = tmp_path / "bundles"
    settings.TRACES_DIR = tmp_path / "traces"
    monkeypatch.setattr("bundles.services.checking.repeated", lambda *_, **__: nullcontext())


def _client(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def owner_user(db: None) -> User:
    return person("owner", "submitter")


@pytest.fixture
def moderator_user(db: None) -> User:
    user = person("moderator", "submitter")
    user.user_permissions.add(Permission.objects.get(codename="moderate_run"))
    return user


@pytest.fixture
def anonymous(db: None) -> Client:
    return Client()


@pytest.fixture
def stranger(db: None) -> Client:
    return _client(person("stranger", "submitter"))


@pytest.fixture
def owner(owner_user: User) -> Client:
    return _client(owner_user)


@pytest.fixture
def moderator(moderator_user: User) -> Client:
    return _client(moderator_user)


@pytest.fixture
def received(owner_user: User) -> Make:
    """Makes a bundle that waits for its check."""

    def make(
        content: bytes | None = None, *, filename: str = "run.zip", user: User | None = None, **more: Any
    ) -> Bundle:
        content = bundle_bytes() if content is None else content
        more.setdefault("details", dict(DETAILS))
        upload = upload_create(owner=user or owner_user, length=len(content), filename=filename, **more)
        upload.path.write_bytes(content)
        return upload_finish(upload)

    return make


@pytest.fixture
def checked(received: Make) -> Make:
    """Makes a bundle and has it checked."""

    def make(*args: Any, **more: Any) -> Bundle:
        bundle = received(*args, **more)
        while bundle_check_next():
            pass
        bundle.refresh_from_db()
        return bundle

    return make
