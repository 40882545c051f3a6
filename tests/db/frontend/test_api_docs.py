"""The API's page and schema, its throttle, and what else every endpoint does."""

import re

import pytest
from django.test import Client, override_settings

from tests.support.people import person, signed_in
from tests.support.rows import baseline_row, graded_row, run_row

pytestmark = pytest.mark.django_db
API = "/api/v1/"


def test_the_page_tells_every_operation_and_asks_nobody(anyone: Client) -> None:
    answer = anyone.get(API)
    page = answer.content.decode()
    schema = anyone.get(f"{API}schema/?format=json").json()
    operations = [(verb.upper(), path) for path, verbs in schema["paths"].items() for verb in verbs]
    assert len(operations) > 25
    for verb, path in operations:
        assert f"{verb}</b> <code>{path}</code>" in page
    for asked in re.findall(r'(?:src|href)="([^"]+)"', page):
        assert asked.startswith(("/", "#")), asked
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_the_schema_tells_who_may_and_which_parameters(anonymous: Client) -> None:
    schema = anonymous.get(f"{API}schema/?format=json").json()
    runs = schema["paths"][f"{API}runs/"]
    assert {} in runs["get"]["security"]
    assert {} not in runs["post"]["security"]
    assert {"apiToken": []} in runs["post"]["security"]
    order = next(each for each in runs["get"]["parameters"] if each["name"] == "order")
    assert "-score" in order["schema"]["enum"]
    assert schema["components"]["securitySchemes"]["apiToken"]["scheme"] == "bearer"
    assert anonymous.get(f"{API}schema/").content.decode().startswith("openapi: 3")
    etag = anonymous.get(f"{API}schema/").headers["ETag"]
    assert anonymous.get(f"{API}schema/", headers={"if-none-match": etag}).status_code == 304
    assert list(anonymous.get(f"{API}schema/?format=xml").json()) == ["format"]


@override_settings(API_PER_MINUTE_ANONYMOUS=3, API_PER_MINUTE_USER=5)
def test_too_many_requests_are_put_off(anonymous: Client) -> None:
    statuses = [anonymous.get(f"{API}tasks/").status_code for _ in range(5)]
    assert statuses[:3] == [200, 200, 200]
    assert statuses[-1] == 429
    refused = anonymous.get(f"{API}tasks/")
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    assert Client(REMOTE_ADDR="10.0.0.9").get(f"{API}tasks/").status_code == 200
    assert Client(headers={"x-forwarded-for": "10.1.1.1"}).get(f"{API}tasks/").status_code == 429
    known = signed_in(person("ada"))
    assert [known.get(f"{API}tasks/").status_code for _ in range(6)] == [200] * 5 + [429]


@override_settings(
    API_PER_MINUTE_ANONYMOUS=1,
    CACHES={"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1"}},
)
def test_a_cache_that_is_away_refuses_nobody(anonymous: Client) -> None:
    assert [anonymous.get(f"{API}tasks/").status_code for _ in range(3)] == [200] * 3


def test_tasks_and_agents_are_told(anyone: Client) -> None:
    tasks = {task["id"]: task for task in anyone.get(f"{API}tasks/").json()}
    assert tasks["gsm8k"] == anyone.get(f"{API}tasks/gsm8k/").json()
    assert (tasks["gsm8k"]["level"], tasks["gsm8k"]["eval_size"]) == ("L1", 1319)
    agents = {agent["id"]: agent for agent in anyone.get(f"{API}agents/").json()}
    assert agents["example"] == anyone.get(f"{API}agents/example/").json()


def test_the_leaderboard_is_the_pages(anonymous: Client) -> None:
    for score, agent in ((30.0, "a"), (20.0, "b")):
        run = run_row(agent=agent, base_digest="b" * 64, state="finished")
        if agent == "a":
            baseline_row(run, 10.0)
        graded_row(run, score)
    told = anonymous.get(f"{API}leaderboard/").json()
    assert [(row["agent"], row["score"]) for row in told["rows"]] == [("a", 30.0), ("b", 20.0)]
    assert set(told["fields"]) == set(told["rows"][0])
    page = anonymous.get("/leaderboard.json").json()["rows"]
    assert page == told["rows"]
    assert [row["agent"] for row in anonymous.get(f"{API}leaderboard/?agent=b").json()["rows"]] == ["b"]
    for query in ("agent=%00", "nothing=1", "sort=nothing", "from=soon"):
        answer = anonymous.get(f"{API}leaderboard/?{query}")
        assert (answer.status_code, list(answer.json())) == (400, [query.partition("=")[0]])


def test_analyses_are_told(anyone: Client) -> None:
    kinds = anyone.get(f"{API}analyses/").json()
    assert len(kinds) > 8
    for kind in kinds:
        told = anyone.get(f"{API}analyses/{kind['id']}/").json()
        assert told["empty"] or told["tables"] or told["figure"]
    assert list(anyone.get(f"{API}analyses/modes/?nothing=1").json()) == ["nothing"]
    assert anyone.get(f"{API}analyses/nothing/").status_code == 404


def test_a_session_alone_writes_nothing(operator: Client) -> None:
    """Another site's form would have the session's cookie, and not its token."""
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = operator.cookies
    run = run_row(state="queued")
    assert strict.get(f"{API}runs/").status_code == 200
    refused = strict.post(f"{API}runs/{run.slug}/cancel/")
    assert (refused.status_code, "CSRF" in refused.json()["detail"]) == (403, True)
