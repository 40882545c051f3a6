"""`manage.py account`: make accounts and give roles."""

import os
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from frontend.accounts import account_active, account_create, account_password, account_roles
from frontend.roles import NAMES, ROLES, roles_of


class Command(BaseCommand):
    help = "Accounts and their roles: " + "; ".join(f"{role.name} may {role.lets}" for role in ROLES) + "."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=("list", "create", "roles", "password", "close", "open"))
        parser.add_argument("name", nargs="?", default="")
        parser.add_argument("--role", action="append", default=[], choices=NAMES, help="may be given several times")

    def handle(self, *args: Any, **options: Any) -> None:
        what, name, roles = options["what"], options["name"], options["role"]
        if what == "list":
            return self._list()
        if not name:
            raise CommandError(f"Name the account: manage.py account {what} NAME.")
        try:
            self.stdout.write(self._done(what, name, roles))
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error

    def _list(self) -> None:
        for user in User.objects.order_by("username").prefetch_related("groups"):
            told = ", ".join(role.name for role in roles_of(user)) + (", superuser" if user.is_superuser else "")
            self.stdout.write(f"{user.username}: {told}{'' if user.is_active else ' (closed)'}")

    def _done(self, what: str, name: str, roles: list[str]) -> str:
        """A password comes from AGENT2_PASSWORD, so that it stands in no process list; else it is made up."""
        password = os.environ.get("AGENT2_PASSWORD", "")
        if what == "create":
            made = account_create(name=name, roles=roles, actor=None, password=password)[1]
            return f"{name} is {', '.join(roles) or 'visitor'}." + ("" if password else f" Password: {made}")
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"There is no account {name}.")
        if what == "roles":
            return f"{name} is {', '.join(account_roles(user=user, roles=roles, actor=None)) or 'visitor'}."
        if what == "password":
            made = account_password(user=user, password=password, actor=None)
            return f"{name} has a new password" + ("." if password else f": {made}")
        account_active(user=user, active=what == "open", actor=None)
        return f"{name} is {'open' if what == 'open' else 'closed'}."
