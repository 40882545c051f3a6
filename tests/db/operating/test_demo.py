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


def test_production_has_no_demo(settings: Any) -> None:
    settings.EMBEDDED = False
    with pytest.raises(CommandError, match="embedded default"):
        call_command("demo")
    assert not User.objects.exists()
