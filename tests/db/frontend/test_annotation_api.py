"""Labels over the API with a token: the same permission and the same blindness as on the pages."""

import csv
import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchmark.models import ApiToken, Run, secret_hash, secret_new
from tests.support.annotating import COLLAPSE, EARLY, ended_run, labelled, researcher, trace_of
from traces.models import Annotation
from traces.services.annotation_reading import FIELDS

pytestmark = pytest.mark.django_db
SECRET = f"owner: {COLLAPSE}"


class Caller:
    """A person with a token."""

    def __init__(self, user: User) -> None:
        self.user, secret = user, secret_new()
        self.token = ApiToken.objects.create(
            user=user, name="test", secret_hash=secret_hash(secret), scopes=["read", "annotate"]
        )
        self.headers = {"authorization": f"Bearer {secret}"}

    def get(self, path: str) -> Any:
        return Client().get(path, headers=self.headers)

    def post(self, path: str, body: object) -> Any:
        return Client().post(path, json.dumps(body), content_type="application/json", headers=self.headers)


@pytest.fixture
def owner(db: None) -> User:
    return researcher("owner")


@pytest.fixture
def colleague(db: None) -> Caller:
    return Caller(researcher("colleague"))


@pytest.fixture
def run(owner: User) -> Run:
    run = ended_run()
    labelled(run, owner, COLLAPSE)
    return run


def exported(answer: Any) -> str:
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()


def test_who_may_not_gets_nothing(run: Run) -> None:
    stranger = Caller(User.objects.create_user("nobody"))
    body = {"run": run.slug, "failure_type": EARLY}
    for path in (
        f"/api/v1/annotations/?run={run.slug}",
        "/api/v1/annotations/export",
        "/api/v1/annotations/export?format=csv",
    ):
        assert Client().get(path).status_code in (401, 403)
        assert stranger.get(path).status_code == 403
    for path in ("/api/v1/annotations/", "/api/v1/annotations/submit"):
        assert Client().post(path, body, content_type="application/json").status_code in (401, 403)
        assert stranger.post(path, body).status_code == 403
    assert Annotation.objects.count() == 1


def test_a_revoked_token_labels_nothing(run: Run, colleague: Caller) -> None:
    ApiToken.objects.update(revoked_at="2026-01-01T00:00Z")
    assert colleague.post("/api/v1/annotations/", {"run": run.slug, "failure_type": EARLY}).status_code in (401, 403)


def test_label_submit_and_then_see(run: Run, colleague: Caller) -> None:
    here = f"/api/v1/annotations/?run={run.slug}"
    trace = trace_of(run)
    body = {"run": run.slug, "failure_type": EARLY, "trace": trace.key, "first_seq": 2, "last_seq": 3, "note": "ends"}
    made = colleague.post("/api/v1/annotations/", body)
    assert made.status_code == 201
    label = made.json()
    assert (label["failure_type"], label["first_seq"], label["blind"], label["author"]) == (EARLY, 2, True, "colleague")
    assert [each["id"] for each in colleague.get(here).json()] == [label["id"]]
    assert SECRET not in exported(colleague.get("/api/v1/annotations/export"))
    submit = ("/api/v1/annotations/submit", {"run": run.slug})
    assert colleague.post(*submit).json() == {"run": run.slug, "submitted_now": True}
    assert colleague.post(*submit).json()["submitted_now"] is False
    assert [each["author"] for each in colleague.get(here).json()] == ["owner", "colleague"]
    late = colleague.post(
        "/api/v1/annotations/", {"run": run.slug, "failure_type": None, "revises": label["id"]}
    ).json()
    assert (late["failure_type"], late["blind"], late["revises"]) == (None, False, label["id"])


def test_an_export_counts_as_seen(run: Run, colleague: Caller) -> None:
    labelled(run, colleague.user, EARLY)
    assert SECRET in exported(colleague.get("/api/v1/annotations/export"))
    late = colleague.post("/api/v1/annotations/", {"run": run.slug, "failure_type": COLLAPSE}).json()
    assert late["seen_annotations"] == [Annotation.objects.get(author__username="owner").pk]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"run": "nothing"}, "run"),
        ({"failure_type": "Bad luck"}, "failure_type"),
        ({"first_seq": 1}, "first_seq"),
        ({"trace": "nothing"}, "trace"),
        ({"revises": 999}, "revises"),
        ({"note": 10_001 * "x"}, "note"),
        ({"critical_seq": 10**30}, "critical_seq"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], field: str, run: Run, colleague: Caller) -> None:
    answer = colleague.post("/api/v1/annotations/", {"run": run.slug, "failure_type": EARLY} | change)
    assert (answer.status_code, list(answer.json())) == (400, [field])
    assert Annotation.objects.count() == 1


def test_anothers_label_is_not_revised(run: Run, colleague: Caller) -> None:
    theirs = Annotation.objects.get()
    answer = colleague.post("/api/v1/annotations/", {"run": run.slug, "failure_type": EARLY, "revises": theirs.pk})
    assert (answer.status_code, list(answer.json())) == (400, ["revises"])


def test_exports_hold_every_field_and_run_no_formula(run: Run, colleague: Caller) -> None:
    colleague.post("/api/v1/annotations/", {"run": run.slug, "failure_type": "", "note": '=1+1, "so"\nthere'})
    (row,) = map(json.loads, exported(colleague.get("/api/v1/annotations/export?format=jsonl")).splitlines())
    assert tuple(row) == FIELDS
    assert (row["note"], row["failure_type"], row["run"]) == ('=1+1, "so"\nthere', None, run.slug)
    answer = colleague.get("/api/v1/annotations/export?format=csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    (line,) = csv.DictReader(StringIO(exported(answer)))
    assert tuple(line) == FIELDS
    assert (line["note"], line["failure_type"]) == ('\'=1+1, "so"\nthere', "")
    wrong = colleague.get("/api/v1/annotations/export?format=xlsx")
    assert (wrong.status_code, wrong.json()) == (400, {"format": "Give one of jsonl, csv."})
