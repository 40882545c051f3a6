"""Nonsense in every query parameter of every address: refused or passed over, and never a fault of ours."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from tests.db.frontend.access_rules import RULES
from tests.db.frontend.access_world import World, world_make

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3] / "frontend"
VALUES = (
    "",
    "%00",
    "-1",
    "9" * 40,
    "9" * 5000,
    "%C2%B2",
    "9999-12-31T23:59:59-12:00",
    "nan",
    "%F0%9F%92%A9",
    "%FF%FE",
    "<script>alert(1)</script>",
    "' OR 1=1 --",
    "../..",
)
NAMED = re.compile(r"""(?:GET(?:\.get|\.getlist)?[\[(]|number_in\(request, )["'](\w+)["']""")
MANY = "&".join(f"runs=a{number}" for number in range(10_000))


def names() -> list[str]:
    """Every query parameter that the pages' code names, and those of filters and the API."""
    found = {"limit", "cursor", "order", "after", "q", "score_min", "created_from", "from", "to", "sort", "budget"}
    for path in ROOT.rglob("*.py"):
        found |= set(NAMED.findall(path.read_text(encoding="utf-8")))
    return sorted(found)


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with django_db_blocker.unblock(), transaction.atomic():
        yield world_make(tmp_path_factory.mktemp("nonsense"))
        transaction.set_rollback(True)


@pytest.mark.parametrize("route", [route for route in RULES if route != "logout/"])
def test_nonsense_is_no_fault(world: World, route: str) -> None:
    client = world.client("admin")
    path = world.path(route, hidden=False)
    queries = [f"{name}={value}" for name, value in zip(names() * 2, VALUES * 20, strict=False)]
    packed = ["&".join(queries[start : start + 7]) for start in range(0, len(queries), 7)]
    for query in [*packed[:6], *(f"{name}={VALUES[at % len(VALUES)]}" for at, name in enumerate(names())), MANY]:
        answer = client.get(f"{path}?{query}")
        assert answer.status_code < 500, f"{path}?{query[:200]} answers {answer.status_code}"
        if not answer.streaming and "html" in answer["Content-Type"]:
            assert b"<script>alert" not in answer.content


@pytest.mark.parametrize(
    "path",
    ["/", "/runs/", "/compare", "/leaderboard.csv", "/analyses/modes/", "/tasks/arithmetic/", "/queue/", "/audit/"],
)
def test_ten_thousand_filters_are_refused(world: World, path: str) -> None:
    for query in (MANY, *(["agent=x&" * 999] if path != "/compare" else [])):
        answer = world.client("admin").get(f"{path}?{query}")
        assert answer.status_code == 400
        assert query != MANY or b"more than 1,000 parameters" in answer.content


@pytest.mark.parametrize(("path", "kind"), [("/", "text/plain; charset=utf-8"), ("/api/v1/runs/", "application/json")])
def test_a_host_that_is_not_ours_is_told_so(db: None, path: str, kind: str) -> None:
    answer = Client().get(path, headers={"host": "evil.example"})
    assert answer.status_code == 400
    assert answer["Content-Type"] == kind
    assert b"AGENT2_ALLOWED_HOSTS" in answer.content


BODIES = (b'{"run": "\\ud800", "agent": "\\udfff"}', b'{"\\ud800": 1}', b'{"budget_s": 1e400}', b"\xff", b"[" * 100_000)


@pytest.mark.parametrize("path", ["annotations/", "runs/", "annotations/submit"])
def test_a_body_that_no_text_can_hold_is_refused(world: World, path: str) -> None:
    for body in BODIES:
        answer = world.client("admin").post(f"/api/v1/{path}", body, content_type="application/json")
        assert answer.status_code == 400, body[:40]


@pytest.mark.parametrize("path", ["/nothing/here/", "/login/"])
def test_a_form_without_a_boundary(world: World, path: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.get("/login/")
    answer = client.post(path, b"x", content_type="multipart/form-data", headers={"x-csrftoken": "a" * 32})
    assert 400 <= answer.status_code < 500


@pytest.mark.parametrize(
    "path", ["/runs/%00/", "/runs/" + "a" * 5000 + "/", "/tasks/%F0%9F%92%A9/", "/%ED%A0%80", "/ws/x"]
)
def test_odd_addresses_are_not_there(db: None, path: str) -> None:
    assert Client().get(path).status_code == 404


@pytest.mark.parametrize("number", ["0", "9" * 25, "9" * 5000])
def test_huge_numbers_in_addresses_are_not_there(world: World, number: str) -> None:
    slug, client = world.keys[False]["run"], world.client("admin")
    for path in (
        f"/runs/{slug}/submissions/{number}/labels/",
        f"/runs/{slug}/submissions/{number}..{number}/diff",
        f"/runs/{slug}/submissions/{number}/records/",
        f"/runs/{slug}/trace/{world.keys[False]['key']}/{number}/",
    ):
        assert client.get(path).status_code in (200, 404), path
    for path in (f"/accounts/{number}/", f"/account/tokens/{number}/revoke/", f"/queue/workers/{number}/drain/"):
        assert client.post(path).status_code == 404, path
