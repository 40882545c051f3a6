"""The per-sample records of a submission: pages, who reads texts, episodes step by step, and damaged files."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.test import Client

from benchmark.models import Run
from frontend import run_records
from grading.models import Verdict
from tests.db.frontend.run_pages import text
from tests.support.stories import story_row

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def folders(settings: Any, tmp_path: Path) -> None:
    settings.TRACES_DIR, settings.DATA_DIR = tmp_path / "traces", tmp_path


def records(run: Run, lines: int = 60) -> None:
    rows = [
        {"item_id": f"q{n}", "outputs": [f"{HOSTILE} secret {n}"], "answer": "42", "reward": n % 2, "tokens": n}
        for n in range(lines)
    ]
    path = Path("evaluations/1/out/samples.jsonl")
    (Path(settings.DATA_DIR) / path).parent.mkdir(parents=True)
    (Path(settings.DATA_DIR) / path).write_text("".join(json.dumps(row) + "\n" for row in rows))
    Verdict.objects.filter(submissions__run=run).update(records=str(path), n_scored=lines, n_expected=lines)


def test_records_open_page_by_page_and_texts_for_researchers_alone(
    anonymous: Client, stranger: Client, operator: Client
) -> None:
    run = story_row([50.0])
    records(run)
    for client in (anonymous, stranger):
        page = text(client, run, "submissions/1/records/")
        assert "secret" not in page
        assert page.count('<th scope="row" class="num">') == 50
        assert 'rel="next"' in page
    page = text(operator, run, "submissions/1/records/")
    assert "secret 7" in page
    assert HOSTILE not in page
    assert "secret 55" in text(operator, run, "submissions/1/records/", page="2")
    person = User.objects.create_user("researcher")
    person.user_permissions.add(Permission.objects.get(codename="annotate"))
    client = Client()
    client.force_login(person)
    assert "secret 7" in text(client, run, "submissions/1/records/")


def kept(run: Run, *lines: bytes) -> None:
    records(run, 1)
    (Path(settings.DATA_DIR) / "evaluations/1/out/samples.jsonl").write_bytes(b"\n".join(lines) + b"\n")


def test_an_episode_is_read_step_by_step(anonymous: Client, operator: Client) -> None:
    run = story_row([50.0])
    steps = [
        {"page": "search", "shown": f"{HOSTILE} [search]", "action": "search[red shoes]", "valid": True},
        {"page": "results", "shown": "B01", "action": "click[nothing]", "valid": False},
    ]
    shop = {
        "item_id": "a",
        "outputs": ["search[red shoes]", "click[nothing]"],
        "reward": 0.25,
        "facts": {"steps": steps},
    }
    game = {"item_id": "b", "outputs": ["> look"], "reward": 1, "facts": {"observations": ["A lamp."], "steps": 1}}
    odd = {"item_id": "c", "outputs": ["said"], "reward": 1, "facts": {"steps": ["x", {"valid": [1]}]}}
    kept(run, *(json.dumps(each).encode() for each in (shop, game, odd)))
    page = text(operator, run, "submissions/1/records/")
    assert "2 steps" in page
    assert "[search]</pre>" in page
    assert "action <code>click[nothing]</code>, valid <code>no</code>" in page
    assert "A lamp.</pre>" in page
    assert 'id="i1-2"' in page
    assert HOSTILE not in page
    assert "A lamp." not in text(anonymous, run, "submissions/1/records/")


def test_a_damaged_record_is_no_reward_of_zero(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_records, "LINE_MOST", 450)
    run = story_row([50.0])
    odd = [
        b'{"reward": "x", "tokens": []}',
        b'{"reward": 1' + b"0" * 400 + b"}",
        b"[1]",
        b"\xff",
        b'{"reward": NaN, "outputs": 3}',
    ]
    kept(run, b'{"outputs": ["' + b"y" * 500 + b'"]}', *odd, b'{"reward": 1, "tokens": 7, "answer": "last"}')
    page = text(operator, run, "submissions/1/records/")
    assert page.count('<th scope="row" class="num">') == 7
    assert page.count("unknown</span>") == 6
    assert "0.00" not in page.partition("<tbody>")[2].partition("</table>")[0]
    assert "1.00" in page
    assert "last" in page


@pytest.mark.parametrize("page", ["0", "-1", "x", "9" * 30, "1e3"])
def test_record_pages_that_cannot_be_are_refused(anonymous: Client, page: str) -> None:
    text(anonymous, story_row([1.0]), "submissions/1/records/", status=400, page=page)


def test_records_that_are_not_here_say_why(anonymous: Client) -> None:
    run = story_row([1.0, None])
    assert "No record was kept" in text(anonymous, run, "submissions/1/records/")
    Verdict.objects.filter(submissions__run=run).update(records="evaluations/9/out/samples.jsonl")
    assert "not on this machine" in text(anonymous, run, "submissions/1/records/")
    Verdict.objects.filter(submissions__run=run).update(records="../../etc/passwd")
    assert "outside of the data folder" in text(anonymous, run, "submissions/1/records/")
    text(anonymous, run, "submissions/3/records/", status=404)
