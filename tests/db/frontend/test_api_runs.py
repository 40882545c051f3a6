"""Runs over the API: filters, orders, pages that neither skip nor repeat, and copies that need no second answer."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from benchmark.models import EventKind, Run, RunState
from benchmark.services.events import event_record
from frontend.api.base import NotModified, answer_to
from frontend.api.run_rows import ORDERS
from grading.models import SubmissionState, TaskStanding
from tests.support.people import person, signed_in
from tests.support.rows import baseline_row, graded_row, run_row, submission_row

pytestmark = pytest.mark.django_db
RUNS = "/api/v1/runs/"


def slugs(client: Client, **query: Any) -> list[str]:
    answer = client.get(RUNS, query)
    assert answer.status_code == 200, answer.content
    return [run["slug"] for run in answer.json()["results"]]


def scored(score: float | None, baseline: float | None = 10.0, **values: Any) -> Run:
    run = run_row(**values)
    if baseline is not None:
        run.base_digest = f"{run.pk:064d}"
        run.save()
        baseline_row(run, baseline)
    if score is not None:
        graded_row(run, score)
    TaskStanding.objects.get_or_create(run=run, task=run.task, defaults={"protocol": run.protocol})
    return run


def test_everybody_reads_runs_with_their_scores(anyone: Client) -> None:
    run = scored(12.5)
    (told,) = anyone.get(RUNS).json()["results"]
    assert told == anyone.get(f"{RUNS}{run.slug}/").json()
    assert (told["baseline_score"], told["best_score"], told["improvement"]) == (10.0, 12.5, 2.5)
    assert told["standings"][0]["best_number"] == 1
    assert (told["tasks"], told["ranked"]) == (["arithmetic"], True)


def test_filters_narrow_and_combine(anonymous: Client) -> None:
    low, high = scored(20.0, agent="a", driver="x"), scored(60.0, agent="b", driver="x", mode="sft-only")
    none = scored(None, agent="b", driver="zebra", state=RunState.FAILED)
    assert slugs(anonymous, agent="b") == [none.slug, high.slug]
    assert slugs(anonymous, agent=["a", "b"], driver="x") == [high.slug, low.slug]
    assert slugs(anonymous, state="failed") == [none.slug]
    assert slugs(anonymous, mode="sft-only") == [high.slug]
    assert slugs(anonymous, score_min=20, score_max=59.9) == [low.slug]
    assert slugs(anonymous, improvement_min="50") == [high.slug]
    assert slugs(anonymous, submissions_max=0) == [none.slug]
    assert slugs(anonymous, q="ZEB") == [none.slug]
    assert slugs(anonymous, agent="nobody") == []
    day = datetime(2026, 1, 2, tzinfo=UTC)
    Run.objects.filter(pk=low.pk).update(created_at=day)
    assert slugs(anonymous, created_before="2026-01-03") == [low.slug]
    assert low.slug not in slugs(anonymous, created_from="2026-01-02T00:00:01+00:00")


def test_a_task_is_found_in_runs_of_several(anonymous: Client) -> None:
    multi = scored(20.0, task_list=["arithmetic", "gsm8k"], mode="multi")
    TaskStanding.objects.update_or_create(run=multi, task="gsm8k", defaults={"protocol": "gsm8k/1", "best": 71.0})
    single = scored(50.0, task="gsm8k", protocol="gsm8k/1")
    assert slugs(anonymous, task="gsm8k", order="-score") == [multi.slug, single.slug]
    assert slugs(anonymous, order="-score") == [single.slug, multi.slug]
    (told,) = anonymous.get(f"{RUNS}?task=gsm8k&score_min=70").json()["results"]
    assert (told["score"], len(told["standings"])) == (71.0, 2)


@pytest.mark.parametrize("order", [sign + name for name in ORDERS for sign in ("", "-")])
def test_pages_hold_every_run_once_in_order(anonymous: Client, order: str) -> None:
    """Ties and missing values among them, and a run that is added between two pages."""
    made = [
        scored(score, baseline, tokens=tokens, budget_s=budget, ended_at=end, state=RunState.FINISHED)
        for (score, baseline, tokens), (budget, end) in zip(
            itertools.product((None, 5.0, 50.0), (None, 10.0), (None, 7)),
            itertools.cycle([(60, None), (90, datetime(2026, 1, 1, tzinfo=UTC))]),
        )
    ]
    whole = slugs(anonymous, order=order)
    assert sorted(whole) == sorted(run.slug for run in made)
    found, link = [], f"{RUNS}?order={order}&limit=5"
    while link:
        page = anonymous.get(link).json()
        found += [run["slug"] for run in page["results"]]
        if len(found) == 5:
            late = scored(None, None, created_at=datetime(2027, 1, 1, tzinfo=UTC), started_at=None)
        link = page["next"]
    assert [slug for slug in found if slug != late.slug] == whole
    assert len(found) == len(set(found))
    rows = anonymous.get(RUNS, {"order": order}).json()["results"]
    name = {"submissions": "submission_count"}.get(order.lstrip("-"), order.lstrip("-"))
    values = [row[name] for row in rows if row["slug"] != late.slug]
    known = [value for value in values if value is not None]
    assert known == sorted(known, reverse=order.startswith("-"))
    assert values[: len(known)] == known, "what has no value comes last"


def test_a_flagged_score_counts_as_the_moderator_said(anonymous: Client) -> None:
    cheat, honest = scored(90.0), scored(40.0)
    TaskStanding.objects.filter(run=cheat).update(flag_reason="trained on held-out items", final=12.0)
    assert slugs(anonymous, order="-score") == [honest.slug, cheat.slug]
    told = anonymous.get(f"{RUNS}{cheat.slug}/").json()
    assert (told["best_score"], told["score"], told["improvement"]) == (90.0, 12.0, 2.0)
    assert told["flag_reason"] == "trained on held-out items"


def test_hidden_runs_are_for_their_owner_and_moderators(anonymous: Client) -> None:
    owner, other, admin = person("owner"), person("other", "operator"), person("admin", "admin")
    run = scored(50.0, hidden=True, created_by=owner)
    parts = ("", "submissions/", "events/", "points/", "metrics/", "labels/", "integrity/")
    for client, seen in (
        (anonymous, False),
        (signed_in(other), False),
        (signed_in(owner), True),
        (signed_in(admin), True),
    ):
        assert (slugs(client) == [run.slug]) == seen
        for part in parts:
            assert client.get(f"{RUNS}{run.slug}/{part}").status_code == (200 if seen else 404)
    assert signed_in(other).post(f"{RUNS}{run.slug}/cancel/").status_code == 404


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("nothing=1", "nothing"),
        ("limit=0", "limit"),
        ("limit=1e3", "limit"),
        ("limit=99999999999999999999999", "limit"),
        ("limit=5&limit=6", "limit"),
        ("order=best", "order"),
        ("order=", "order"),
        ("state=asleep", "state"),
        ("score_min=nan", "score_min"),
        ("score_max=inf", "score_max"),
        ("score_min=ten", "score_min"),
        ("submissions_min=-1", "submissions_min"),
        ("created_from=yesterday", "created_from"),
        ("created_from=2026-13-01", "created_from"),
        ("created_from=2026-02-30T10:00:00Z", "created_from"),
        ("created_from=0001-01-01T00:00:00%2B14:00", "created_from"),
        ("agent=a%00b", "agent"),
        ("agent=" + "a" * 301, "agent"),
        ("cursor=x", "cursor"),
        ("cursor=bm9uZQ", "cursor"),
        ("cursor=WyItY3JlYXRlZF9hdCIsICJ4IiwgMV0", "cursor"),
        ("cursor=WyItc2NvcmUiLCAxLCAxXQ", "cursor"),
        ("cursor=" + "W" * 200, "cursor"),
        ("&".join(f"agent={n}" for n in range(21)), "agent"),
        ("&".join(f"filter{n}=1" for n in range(900)), "query"),
    ],
)
def test_nonsense_is_named(anonymous: Client, query: str, names: str) -> None:
    answer = anonymous.get(f"{RUNS}?{query}")
    assert answer.status_code == 400, answer.content
    assert list(answer.json()) == [names]


def test_ten_thousand_filters_are_refused(anonymous: Client) -> None:
    query = "&".join(f"agent=a{number}" for number in range(10_000))
    for path in (RUNS, "/api/v1/leaderboard/", "/", "/runs/"):
        assert anonymous.get(f"{path}?{query}").status_code == 400


def test_unknown_ids_are_not_there(anyone: Client) -> None:
    for part in ("", "submissions/", "events/", "points/", "metrics/", "labels/", "integrity/"):
        for slug in ("nobody", "x" * 3000):
            assert anyone.get(f"{RUNS}{slug}/{part}").status_code == 404
    for path in ("tasks/nothing/", "agents/nothing/", "runs/a%00b/", "tasks/%00/", "bundles/nothing/"):
        assert anyone.get(f"/api/v1/{path}").status_code == 404


def test_a_copy_that_holds_costs_a_304(anonymous: Client, django_assert_max_num_queries: Any) -> None:
    run = scored(50.0)
    for path in (RUNS, f"{RUNS}{run.slug}/", f"{RUNS}{run.slug}/points/", "/api/v1/leaderboard/"):
        etag = anonymous.get(path).headers["ETag"]
        with django_assert_max_num_queries(2):
            again = anonymous.get(path, headers={"if-none-match": f'"other", {etag}'})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", etag)
        event_record(run.pk, EventKind.RUN_STEP, text="on")
        assert anonymous.get(path, headers={"if-none-match": etag}).status_code == 200


def test_a_copy_is_for_one_reader_and_one_address(anonymous: Client) -> None:
    owner = person("owner")
    scored(50.0, hidden=True, created_by=owner)
    etag = signed_in(owner).get(RUNS).headers["ETag"]
    assert anonymous.get(RUNS, headers={"if-none-match": etag}).status_code == 200
    mine = anonymous.get(RUNS).headers["ETag"]
    assert anonymous.get(f"{RUNS}?limit=1", headers={"if-none-match": mine}).status_code == 200
    assert "private" in anonymous.get(RUNS).headers["Cache-Control"]


def test_an_event_that_commits_late_changes_the_version(anonymous: Client) -> None:
    """Ids are given out before the commit: a lower one may become visible after a higher one."""
    run = scored(50.0)
    late = event_record(run.pk, EventKind.RUN_STEP, text="late")
    event_record(run.pk, EventKind.RUN_STEP, text="early")
    pk, seq = late.pk, late.seq
    late.delete()
    etag = anonymous.get(RUNS).headers["ETag"]
    type(late).objects.create(pk=pk, run=run, seq=seq, kind=EventKind.RUN_STEP)
    assert anonymous.get(RUNS, headers={"if-none-match": etag}).status_code == 200


def test_submissions_and_points_agree_with_the_page(anonymous: Client) -> None:
    run = scored(20.0)
    submission_row(run, state=SubmissionState.REJECTED)
    graded_row(run, 15.0)
    graded_row(run, 30.0)
    points = anonymous.get(f"{RUNS}{run.slug}/points/").json()
    assert points["number"] == [1, 2, 3, 4]
    assert points["score"] == [20.0, None, 15.0, 30.0]
    assert points["best"] == [20.0, 20.0, 20.0, 30.0]
    assert points["baseline_score"] == 10.0
    first = anonymous.get(f"{RUNS}{run.slug}/submissions/?limit=3").json()
    rest = anonymous.get(first["next"]).json()
    rows = first["results"] + rest["results"]
    assert [row["number"] for row in rows] == [1, 2, 3, 4]
    assert [row["improvement"] for row in rows] == [10.0, None, 5.0, 20.0]
    assert rest["next"] is None
    graded = anonymous.get(f"{RUNS}{run.slug}/submissions/?state=rejected").json()["results"]
    assert [row["number"] for row in graded] == [2]


def test_events_come_after_a_number(anonymous: Client) -> None:
    run = run_row()
    for number in range(5):
        event_record(run.pk, EventKind.RUN_STEP, text=f"<b>{number}</b>")
    told = anonymous.get(f"{RUNS}{run.slug}/events/?after=2&limit=2").json()
    assert [event["seq"] for event in told] == [3, 4]
    for query in ("after=-1", "after=x", "after=" + "9" * 30, "limit=1001", "after=1&after=2", "page=1"):
        assert anonymous.get(f"{RUNS}{run.slug}/events/?{query}").status_code == 400


def test_numbers_that_are_none_are_null(anonymous: Client) -> None:
    for value in (float("nan"), float("inf"), float("-inf")):
        run = run_row()
        TaskStanding.objects.filter(run=run).delete()
        TaskStanding.objects.create(run=run, task=run.task, protocol=run.protocol, best=value, baseline=10.0)
        for path in (f"{RUNS}{run.slug}/", f"{RUNS}?order=-score", f"{RUNS}?order=improvement&limit=1"):
            answer = anonymous.get(path)
            assert answer.status_code == 200
            assert b"NaN" not in answer.content
            assert b"Infinity" not in answer.content
        told = anonymous.get(f"{RUNS}{run.slug}/").json()
        assert (told["score"], told["improvement"]) == (None, None)
    for order in ("score", "-score", "improvement", "-improvement"):
        link, seen = f"{RUNS}?order={order}&limit=1", 0
        while link:
            page = anonymous.get(link).json()
            seen += len(page["results"])
            assert seen <= 3
            link = page["next"]
        assert seen == 3


def test_starting_repeating_and_cancelling_are_for_operators(
    anonymous: Client, stranger: Client, operator: Client
) -> None:
    body = {"agent": "example", "task": "arithmetic", "base_model": "tiny", "budget_s": 600}
    for client, status in ((anonymous, 401), (stranger, 403), (operator, 201)):
        answer = client.post(RUNS, body, content_type="application/json")
        assert answer.status_code == status
    run = Run.objects.get()
    again = operator.post(f"{RUNS}{run.slug}/rerun/", {"budget_s": 60}, content_type="application/json").json()
    assert (again["agent"], again["budget_s"], again["slug"] != run.slug) == ("example", 60, True)
    assert stranger.post(f"{RUNS}{run.slug}/rerun/", {}, content_type="application/json").status_code == 403
    assert stranger.post(f"{RUNS}{run.slug}/cancel/").status_code == 403
    assert operator.post(f"{RUNS}{run.slug}/cancel/").json()["state"] == "cancelled"
    assert operator.post(f"{RUNS}{run.slug}/cancel/").status_code == 409
    assert operator.get(f"{RUNS}{run.slug}/cancel/").status_code == 405


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[",
        b"[]",
        b"null",
        b'"text"',
        b"[" * 100_000,
        b'{"agent": NaN}',
        b"\xff\xfe",
        b'{"agent": "a\\u0000b", "task": "t", "base_model": "tiny", "budget_s": 60}',
        b'{"agent": "\\ud800", "task": "t", "base_model": "tiny", "budget_s": 60}',
        b'{"agent": "example", "task": "arithmetic", "base_model": "tiny", "budget_s": 1e999}',
        b'{"agent": "example", "task": "arithmetic", "base_model": "tiny", "budget_s": ' + b"9" * 5000 + b"}",
        b'{"agent": {}, "task": [], "base_model": 1, "budget_s": null}',
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=rot13", "application/json; charset=x"])
def test_odd_bodies_are_told_so(operator: Client, body: bytes, kind: str) -> None:
    answer = operator.generic("POST", RUNS, body, content_type=kind)
    assert answer.status_code == 400, answer.content
    assert not Run.objects.exists()


def test_other_kinds_of_bodies_are_not_taken(operator: Client) -> None:
    assert operator.post(RUNS, {"agent": "example"}).status_code == 415
    assert operator.put(RUNS).status_code == 405


def test_times_without_a_zone_are_utc(anonymous: Client) -> None:
    run = scored(1.0, created_at=datetime(2026, 3, 1, 12, tzinfo=UTC))
    for text in ("2026-03-01T12:00:00", "2026-03-01T12:00:00Z", "2026-03-01T14:00:00+02:00", "2026-03-01 12:00"):
        assert slugs(anonymous, created_from=text) == [run.slug]
    assert run.created_at - timedelta(seconds=1) < run.created_at


def test_an_answer_without_news_has_no_body() -> None:
    """The test client would hide one; a server would send it and break the connection."""
    answer = answer_to(NotModified(), {})
    assert answer is not None
    assert (answer.status_code, answer.data) == (304, None)
