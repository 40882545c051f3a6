"""Every address, every role, every object: `access_rules.py` says who gets through, and here each is tried.

An address that is in no rule fails the first test: whoever adds one says who it is for.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from benchmark.services.tokens import token_create
from frontend.routing import websocket_urlpatterns
from tests.db.frontend.access_rules import (
    ABSENT,
    ACTORS,
    ELSEWHERE,
    FORBIDDEN,
    GRADING,
    IN,
    METHOD,
    RULES,
    SIGN_IN,
    Access,
    nobody,
)
from tests.db.frontend.access_world import World, world_make

pytestmark = pytest.mark.django_db
SOCKETS = {"ws/runs/<slug:slug>/"}


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Made once, rolled back at the end; what a test does is rolled back after it."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield world_make(tmp_path_factory.mktemp("access"))
        transaction.set_rollback(True)


def routes(patterns: Any, before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield route


def test_every_address_has_a_rule() -> None:
    assert set(routes(get_resolver().url_patterns)) == set(RULES) | set(ELSEWHERE)
    assert {str(pattern.pattern) for pattern in websocket_urlpatterns} == SOCKETS


def outcome(answer: HttpResponse) -> str:
    """What became of a request. A fault of ours is none of them."""
    status = answer.status_code
    assert status < 500, f"{status}: {answer.content[:2000]!r}"
    if status in (302, 303) and answer.headers["Location"].startswith("/login/"):
        return SIGN_IN
    return {401: SIGN_IN, 403: FORBIDDEN, 404: ABSENT, 405: METHOD}.get(status, IN)


def tried(ask: Any) -> str:
    """The outcome of a request whose effects are taken back."""
    with transaction.atomic():
        found = outcome(ask())
        transaction.set_rollback(True)
    return found


def reading(world: World, route: str, access: Access, client: Client, hidden: bool) -> HttpResponse:
    query = access.query.format(slug=world.keys[hidden]["run"])
    return client.get(f"{world.path(route, hidden)}?{query}" if query else world.path(route, hidden))  # type: ignore[return-value]


def posting(world: World, route: str, access: Access, client: Client, hidden: bool) -> HttpResponse:
    path = world.path(route, hidden)
    if path.startswith(("/api/", "/grading/")):
        return client.post(path, access.body, content_type="application/json")  # type: ignore[return-value]
    return client.post(path)  # type: ignore[return-value]


@pytest.mark.parametrize("route", list(RULES))
def test_who_gets_through(world: World, route: str) -> None:
    access = RULES[route]
    has_object = "<slug:slug>" in route or "{slug}" in access.query
    wrong = {}
    for actor in ACTORS:
        client = world.client(actor)
        for hidden in (False, True) if has_object else (False,):
            for verb, ask, rule in (("GET", reading, access.get), ("POST", posting, access.post)):
                if rule is nobody and actor not in ("anonymous", "admin"):
                    continue
                expected = rule(actor, hidden)
                found = tried(lambda ask=ask, client=client, hidden=hidden: ask(world, route, access, client, hidden))
                if found != expected and not _as_good(verb, rule, access, found):
                    wrong[actor, verb, "hidden" if hidden else "shown"] = f"{found}, not {expected}"
    assert not wrong


def _as_good(verb: str, rule: Any, access: Access, found: str) -> bool:
    """A method that is not there may be refused before or after the person is, but nobody gets through."""
    return (verb == "GET" and access.post is not nobody and found == METHOD) or (rule is nobody and found != IN)


def test_tokens_get_no_further_than_their_owner(world: World) -> None:
    """With every scope; and without one of them they get less far."""
    for actor in ACTORS[1:]:
        with transaction.atomic():
            _, secret = token_create(
                user=world.people[actor], name="all", scopes=["read", "submit", "operate", "annotate"]
            )
            client = Client(raise_request_exception=False, headers={"authorization": f"Bearer {secret}"})
            for route, access in RULES.items():
                if not route.startswith("api/v1/") or route == "api/v1/":
                    continue
                for hidden in (False, True) if "<slug:slug>" in route else (False,):
                    for ask, rule in ((reading, access.get), (posting, access.post)):
                        if rule is nobody:
                            continue
                        found = tried(lambda ask=ask, r=route, a=access, h=hidden, c=client: ask(world, r, a, c, h))
                        assert found == rule(actor, hidden) or found in (FORBIDDEN, METHOD), (actor, route, hidden)
            transaction.set_rollback(True)


@pytest.mark.parametrize("actor", ACTORS)
def test_what_is_hidden_is_in_no_listing(world: World, actor: str) -> None:
    """Neither its id nor its agent, wherever several runs are shown together."""
    client, slug = world.client(actor), world.keys[True]["run"]
    may = actor in ("owner", "admin")
    for path in ("/", "/leaderboard.csv", "/leaderboard.json", "/api/v1/leaderboard/", "/queue/", "/tasks/arithmetic/"):
        assert slug not in client.get(path).content.decode(), f"{path} ranks or names it"
    for path in ("/runs/", "/api/v1/runs/", "/api/v1/runs/?order=-score&task=arithmetic"):
        assert (slug in client.get(path).content.decode()) == may, path
    for part in ("", "/curve.json", "/points.csv", "/measures.tex"):
        status = client.get(f"/compare{part}?runs={slug}").status_code
        assert (status == 200) == may, f"compare{part} answers {status}"


def test_a_secret_that_nobody_has_opens_no_grading(world: World) -> None:
    for route in GRADING:
        path = "/" + route.replace("<str:token>", "x" * 43).replace("<int:number>", "1").replace("<path:rest>", "y")
        for answer in (Client().get(path), Client().post(path, "{}", content_type="application/json")):
            assert 400 <= answer.status_code < 500
