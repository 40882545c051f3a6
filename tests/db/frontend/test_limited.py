"""A limit on the held-out items: another protocol, in the API and on every page, and never ranked."""

from typing import Any

import pytest
from django.test import Client

from benchmark.models import Run, RunState
from tests.support.rows import graded_row

pytestmark = pytest.mark.django_db
BODY = {"agent": "example", "task": "arithmetic", "base_model": "tiny", "budget_s": 600}


def started(operator: Client, settings: Any, limit: int | None, score: float) -> Run:
    """A run started through the API while the deployment has that limit, with one score."""
    settings.GRADING_LIMIT = limit
    answer = operator.post("/api/v1/runs/", BODY, content_type="application/json")
    assert answer.status_code == 201, answer.content
    run = Run.objects.get(slug=answer.json()["slug"])
    graded_row(run, score)
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED, base_digest="b" * 64)
    return run


def test_the_api_says_so(operator: Client, anyone: Client, settings: Any) -> None:
    part, whole = started(operator, settings, 20, 90.0), started(operator, settings, None, 50.0)
    settings.GRADING_LIMIT = 7  # what holds now changes nothing about runs that were started
    told = {slug: anyone.get(f"/api/v1/runs/{slug}/").json() for slug in (part.slug, whole.slug)}
    assert (told[part.slug]["protocol"], told[part.slug]["ranked"]) == ("arithmetic/1;limit=20", False)
    assert (told[whole.slug]["protocol"], told[whole.slug]["ranked"]) == ("arithmetic/1", True)
    found = anyone.get("/api/v1/runs/", {"protocol": "arithmetic/1;limit=20"}).json()["results"]
    assert [row["slug"] for row in found] == [part.slug]


def test_the_pages_say_so(operator: Client, anyone: Client, settings: Any) -> None:
    part, whole = started(operator, settings, 20, 90.0), started(operator, settings, None, 50.0)
    page = anyone.get(f"/runs/{part.slug}/").content.decode()
    assert "arithmetic/1;limit=20" in page
    assert "limited, unranked" in page
    assert "limited, unranked" not in anyone.get(f"/runs/{whole.slug}/").content.decode()
    board = anyone.get("/").content.decode()
    ranked, _, rest = board.partition("Limited, unranked")
    assert f"/runs/{whole.slug}/" in ranked
    assert f"/runs/{part.slug}/" not in ranked
    assert f"/runs/{part.slug}/" in rest
