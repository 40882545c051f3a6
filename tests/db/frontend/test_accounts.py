"""Roles, accounts, tokens and the audit log: who may, and that all of it is written down."""

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from benchmark.models import ApiToken, AuditEntry, RunState
from benchmark.services.tokens import token_create
from tests.support.people import person, signed_in, with_token
from tests.support.rows import run_row

pytestmark = pytest.mark.django_db
RUN = {"agent": "example", "task": "arithmetic", "base_model": "tiny", "budget_s": 600}


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("id").values_list("action", flat=True))


def test_migrating_makes_the_roles() -> None:
    assert set(Group.objects.values_list("name", flat=True)) >= {
        "visitor",
        "submitter",
        "researcher",
        "operator",
        "admin",
    }
    assert person("otto", "operator").has_perm("benchmark.operate_run")
    assert person("rita", "researcher").has_perms(["traces.annotate", "traces.label_run"])
    assert not person("vera", "visitor").get_all_permissions()
    assert person("anna", "admin").has_perms(["auth.change_user", "benchmark.view_auditentry", "benchmark.operate_run"])


def test_a_token_is_shown_once_and_kept_as_a_digest() -> None:
    ada = person("ada", "operator")
    client = signed_in(ada)
    page = client.post("/account/tokens/", {"name": "ci", "scopes": ["read", "operate"], "days": "30"}).content.decode()
    secret = page.split('aria-label="The token">', 1)[1].split("<", 1)[0]
    token = ApiToken.objects.get()
    assert secret.startswith("a2_")
    assert secret not in str(ApiToken.objects.values().get())
    assert secret not in client.get("/account/").content.decode()
    assert secret not in str(list(AuditEntry.objects.values()))
    assert token.expires_at is not None
    assert timedelta(days=29) < token.expires_at - timezone.now() <= timedelta(days=30)
    bearer = Client(headers={"authorization": f"Bearer {secret}"})
    assert bearer.post("/api/v1/runs/", RUN, content_type="application/json").status_code == 201
    token.refresh_from_db()
    assert token.last_used_at is not None
    assert actions() == ["token.create", "run.start"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "Give a name"),
        ({"name": "x" * 81}, "Give a name"),
        ({"scopes": []}, "Give one or more of"),
        ({"scopes": ["root"]}, "Give one or more of"),
        ({"days": "soon"}, "Give a number of days"),
        ({"days": "0"}, "Give 1 to"),
        ({"days": "9999"}, "Give 1 to"),
    ],
)
def test_a_wrong_token_is_not_made(change: dict[str, object], field: str) -> None:
    answer = signed_in(person("ada")).post("/account/tokens/", {"name": "x", "scopes": ["read"], "days": "7"} | change)
    assert answer.status_code == 400
    assert field in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_scopes_narrow_what_the_owner_may() -> None:
    ada = person("ada", "operator", "researcher")
    run = run_row(state=RunState.QUEUED)
    reader, operator, annotator = with_token(ada, "read"), with_token(ada, "operate"), with_token(ada, "annotate")
    cancel = f"/api/v1/runs/{run.slug}/cancel/"
    assert reader.get("/api/v1/runs/").status_code == 200
    assert reader.post(cancel).status_code == 403
    assert annotator.post(cancel).status_code == 403
    assert operator.get("/api/v1/runs/").status_code == 403
    assert reader.get(f"/api/v1/annotations/?run={run.slug}").status_code == 403
    assert annotator.get(f"/api/v1/annotations/?run={run.slug}").status_code == 200
    told = operator.post(cancel)
    assert (told.status_code, told.json()["state"]) == (200, "cancelled")


def test_a_scope_gives_nothing_that_the_owner_lacks() -> None:
    visitor = with_token(person("vera", "visitor"), "read", "submit", "operate", "annotate")
    assert visitor.post("/api/v1/runs/", RUN, content_type="application/json").status_code == 403
    assert visitor.get(f"/api/v1/annotations/?run={run_row().slug}").status_code == 403


def test_dead_tokens_open_nothing() -> None:
    ada = person("ada", "operator")
    for change in ({"revoked_at": timezone.now()}, {"expires_at": timezone.now() - timedelta(seconds=1)}):
        client = with_token(ada, "read")
        assert client.get("/api/v1/runs/").status_code == 200
        ApiToken.objects.update(**change)
        refused = client.get("/api/v1/runs/")
        assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, "Bearer")
        ApiToken.objects.all().delete()
    client = with_token(ada, "read")
    User.objects.update(is_active=False)
    assert client.get("/api/v1/runs/").status_code == 401
    for odd in ("Bearer", "Bearer ", "Bearer \u00fc", "Bearer a b", "bearer " + "x" * 5000):
        assert Client(headers={"authorization": odd}).get("/api/v1/runs/").status_code == 401


def test_tokens_are_revoked_by_their_owner_alone() -> None:
    ada, eve = person("ada"), person("eve", "admin")
    token, _ = token_create(user=ada, name="mine", scopes=["read"])
    path = f"/account/tokens/{token.pk}/revoke/"
    assert Client().post(path).status_code == 302
    assert signed_in(eve).post(path).status_code == 404
    assert signed_in(ada).get(path).status_code == 405
    assert signed_in(ada).post(path, follow=True).status_code == 200
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert actions() == ["token.create", "token.revoke"]


def test_only_admins_see_accounts_and_the_log() -> None:
    for path in ("/accounts/", "/audit/"):
        assert Client().get(path).status_code == 302
        for role in ("visitor", "submitter", "researcher", "operator"):
            assert signed_in(person(f"{role}-{path[1:3]}", role)).get(path).status_code == 403
        assert signed_in(person(f"admin-{path[1:3]}", "admin")).get(path).status_code == 200


def test_admins_make_accounts_and_give_roles() -> None:
    anna = person("anna", "admin")
    client = signed_in(anna)
    page = client.post("/accounts/new/", {"name": "otto", "roles": ["operator"]}).content.decode()
    password = page.split('aria-label="The password">', 1)[1].split("<", 1)[0]
    otto = User.objects.get(username="otto")
    assert otto.check_password(password)
    assert otto.has_perm("benchmark.operate_run")
    assert client.post("/accounts/new/", {"name": "OTTO"}).status_code == 400
    assert client.post("/accounts/new/", {"name": "<b>"}).status_code == 400
    client.post(f"/accounts/{otto.pk}/", {"roles": ["researcher"], "active": "1"})
    otto = User.objects.get(pk=otto.pk)
    assert not otto.has_perm("benchmark.operate_run")
    assert otto.has_perm("traces.annotate")
    assert client.post(f"/accounts/{otto.pk}/", {"roles": ["king"], "active": "1"}).status_code == 400
    client.post(f"/accounts/{otto.pk}/", {"roles": ["researcher"]})
    assert not User.objects.get(pk=otto.pk).is_active
    assert actions() == ["account.create", "account.roles", "account.roles", "account.close"]
    log = client.get("/audit/?action=account.create").content.decode()
    assert "otto" in log
    assert "account.roles</td>" not in log


def test_admins_neither_lock_themselves_out_nor_rise_above_a_superuser() -> None:
    anna, root = person("anna", "admin"), User.objects.create_superuser("root")
    client = signed_in(anna)
    assert client.post(f"/accounts/{anna.pk}/", {"roles": ["operator"], "active": "1"}).status_code == 400
    assert client.post(f"/accounts/{anna.pk}/", {"roles": ["admin"]}).status_code == 400
    assert client.post(f"/accounts/{anna.pk}/", {"roles": ["admin", "operator"]}).status_code == 400
    assert [group.name for group in anna.groups.all()] == ["admin"], "all of a change or nothing"
    assert client.post(f"/accounts/{root.pk}/", {"roles": []}).status_code == 400
    assert User.objects.get(pk=anna.pk).has_perm("auth.change_user")
    assert User.objects.get(pk=root.pk).is_active


def test_passwords_are_changed_by_their_owner() -> None:
    ada = User.objects.create_user("ada", password="correct-horse-9")
    client, other = signed_in(ada), signed_in(ada)
    wrong = {"old_password": "x", "new_password1": "battery-staple-7", "new_password2": "battery-staple-7"}
    assert "incorrectly" in client.post("/account/password/", wrong).content.decode()
    weak = wrong | {"old_password": "correct-horse-9", "new_password1": "short", "new_password2": "short"}
    assert "too short" in client.post("/account/password/", weak).content.decode()
    client.post("/account/password/", wrong | {"old_password": "correct-horse-9"})
    ada.refresh_from_db()
    assert ada.check_password("battery-staple-7")
    assert client.get("/account/").status_code == 200
    assert other.get("/account/").status_code == 302
    assert actions() == ["account.password"]


def test_passwords_cannot_be_tried_quickly(settings: object) -> None:
    User.objects.create_user("ada", password="correct-horse-9")
    client = Client()
    tries = [client.post("/login/", {"username": "ada", "password": f"guess-{n}"}).status_code for n in range(12)]
    assert (tries[0], tries[-1]) == (200, 429)
    right = client.post("/login/", {"username": "ada", "password": "correct-horse-9"})
    assert right.status_code == 429
    cache.clear()
    assert client.post("/login/", {"username": "ada", "password": "correct-horse-9"}).status_code == 302
    assert actions() == ["account.sign_in"]


@pytest.mark.parametrize(
    "query", ["before=x", "before=-1", "before=" + "9" * 40, "nothing=1", "actor=%00", "actor=" + "a" * 200]
)
def test_the_log_names_what_is_wrong(query: str) -> None:
    answer = signed_in(person("anna", "admin")).get(f"/audit/?{query}")
    assert answer.status_code == 400
    assert query.partition("=")[0] in answer.content.decode()


def test_the_command_makes_accounts() -> None:
    out = StringIO()
    call_command("account", "create", "otto", "--role", "operator", stdout=out)
    assert "Password: " in out.getvalue()
    call_command("account", "roles", "otto", "--role", "researcher", "--role", "operator", stdout=out)
    call_command("account", "close", "otto", stdout=out)
    call_command("account", "list", stdout=out)
    assert "otto: researcher, operator (closed)" in out.getvalue()
    with pytest.raises(CommandError, match="There is no account nobody"):
        call_command("account", "password", "nobody")
    with pytest.raises(CommandError, match="taken"):
        call_command("account", "create", "Otto")


def test_markup_in_names_never_renders() -> None:
    anna = person("anna", "admin")
    token_create(user=anna, name="<script>alert(1)</script>", scopes=["read"])
    client = signed_in(anna)
    for path in ("/account/", "/audit/"):
        assert "<script>alert" not in client.get(path).content.decode()
