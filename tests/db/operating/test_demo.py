"""The demo leaves accounts that it did not make alone, and is for the embedded default."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from frontend.management.commands.demo import OPERATOR, Command

pytestmark = pytest.mark.django_db


def test_its_own_account_has_a_new_password_each_time() -> None:
    first, second = Command()._operator(), Command()._operator()
    assert first != second
    user = User.objects.get(username=OPERATOR)
    assert (user.check_password(second), user.check_password(first), user.is_superuser) == (True, False, True)


def test_an_account_of_that_name_is_left_alone() -> None:
    user = User.objects.create_user(OPERATOR, password="somebody's own")
    assert Command()._operator() == ""
    user.refresh_from_db()
    assert (user.check_password("somebody's own"), user.is_superuser) == (True, False)


def test_a_disk_that_is_too_small_is_said_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmark.services.worker_check.FREE_MIN_BYTES", 2**50)
    with pytest.raises(CommandError, match=r"has [\d.]+ GiB free; 1048576 GiB are needed"):
        call_command("demo")
    assert not User.objects.exists()


def test_what_its_worker_lacks_is_said_before_anything_starts(settings: Any) -> None:
    settings.ALLOW = ["https://pypi.org"]
    with pytest.raises(CommandError, match=r"The demo's worker could not work:\n.*https://pypi\.org"):
        call_command("demo")
    assert not User.objects.exists()


def test_production_has_no_demo(settings: Any) -> None:
    settings.EMBEDDED = False
    with pytest.raises(CommandError, match="embedded default"):
        call_command("demo")
    assert not User.objects.exists()
