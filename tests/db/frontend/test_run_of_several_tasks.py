"""The page of a run with several tasks: one curve, one baseline and one list of submissions for each."""

import json
import re
from pathlib import Path

import pytest
from django.test import Client

from benchmark.models import Run
from frontend.run_titles import run_title
from grading.models import Baseline, EvaluationState, TaskStanding
from grading.services.standings import standing_rebuild
from tests.db.frontend import trace_pages
from tests.db.frontend.run_pages import text
from tests.support.annotating import researcher
from tests.support.rows import evaluation_row, graded_row, run_row, verdict_row
from tests.support.transcripts import START, Script
from traces.models import MethodLabel

pytestmark = pytest.mark.django_db
TABS = ("curve/", "submissions/", "routes/", "artifacts/", "integrity/", "configuration/")
FILES = ("curve.json", "submissions.csv", "report.md", "cite.bib")


@pytest.fixture
def several() -> Run:
    """Baselines of 10 and 20; #1 and #3 scored on arithmetic, #2 on gsm8k."""
    run = run_row(mode="multi", task_list=["arithmetic", "gsm8k"])
    for task, score in (("arithmetic", 10.0), ("gsm8k", 20.0)):
        evaluation = evaluation_row(
            run, f"{task:_<64}", task=task, state=EvaluationState.DONE, verdict=verdict_row(run, score)
        )
        Baseline.objects.create(run=run, task=task, evaluation=evaluation)
    for task, score in (("arithmetic", 31.25), ("gsm8k", 77.5), ("arithmetic", 42.75)):
        graded_row(run, score, task=task)
    for task in run.tasks:
        standing_rebuild(run, task)
    return run


def test_each_task_is_read_by_itself(anyone: Client, several: Run) -> None:
    first = text(anyone, several)
    assert "Best so far 42.75, 32.75 above the base model, after 2 submissions" in first
    assert "77.5" not in first
    other = text(anyone, several, "?task=gsm8k")
    assert "Best so far 77.50, 57.50 above the base model, after 1 submission" in other
    assert "42.75" not in other
    assert "on Arithmetic and GSM8K" in first


def test_links_stay_with_the_task(anonymous: Client, several: Run) -> None:
    page = text(anonymous, several, "?task=gsm8k")
    assert 'href="?task=arithmetic&amp;x=' in page
    assert "&amp;task=gsm8k" in page
    assert 'aria-current="true">GSM8K' in page


def test_the_curve_and_the_file_are_of_one_task(anonymous: Client, several: Run) -> None:
    assert "77.5" in json.dumps(json.loads(text(anonymous, several, "curve.json?task=gsm8k")))
    assert "42.75" not in text(anonymous, several, "curve.json?task=gsm8k")
    assert "77.5" in text(anonymous, several, "submissions.csv?task=gsm8k")


@pytest.mark.parametrize("part", ["", *TABS, *FILES, "fragment/", "fragment/curve/"])
def test_another_task_is_a_bad_address(anyone: Client, several: Run, part: str) -> None:
    answer = anyone.get(f"/runs/{several.slug}/{part}?task=humaneval")
    assert answer.status_code == 400
    assert "arithmetic, gsm8k" in answer.content.decode()


def test_a_run_with_one_task_has_no_choice_of_tasks(anonymous: Client) -> None:
    run = run_row()
    graded_row(run, 5.0)
    assert 'id="tasks"' not in text(anonymous, run)
    assert "Best so far 5.00" in text(anonymous, run, "?task=arithmetic")


@pytest.mark.parametrize("part", TABS)
def test_every_tab_keeps_to_the_task_and_hands_it_on(anonymous: Client, several: Run, part: str) -> None:
    page = text(anonymous, several, f"{part}?task=gsm8k")
    assert 'aria-current="true">GSM8K' in page
    assert "77.50" in page
    assert "42.75" not in page
    for tab in ("", *TABS, "trace/"):
        assert f'href="/runs/{several.slug}/{tab}?task=gsm8k"' in page
    assert f"/runs/{several.slug}/submissions/#" not in page
    assert "42.75" in text(anonymous, several, part)


def test_submissions_of_the_other_task_are_on_no_tab(anonymous: Client, several: Run) -> None:
    told = text(anonymous, several, "artifacts/?task=gsm8k")
    assert ("output/v1" in told, "output/v2" in told) == (False, True)
    told = text(anonymous, several, "artifacts/")
    assert ("output/v1" in told, "output/v2" in told) == (True, False)


def test_what_a_task_was_measured_by_is_its_own(anonymous: Client, several: Run) -> None:
    TaskStanding.objects.filter(run=several, task="gsm8k").update(protocol="gsm8k/9")
    page = text(anonymous, several, "configuration/?task=gsm8k")
    assert "gsm8k/9" in page
    assert "best score on gsm8k 77.50" in page
    assert "on arithmetic and gsm8k" in page
    assert "best score on gsm8k 77.50" in text(anonymous, several, "cite.bib?task=gsm8k")
    for address in (f"/runs/{several.slug}/report.md", f"/api/v1/runs/{several.slug}/metrics/"):
        told = anonymous.get(f"{address}?task=gsm8k").content.decode()
        assert ("77.5" in told, "42.75" in told) == (True, False)
        told = anonymous.get(address).content.decode()
        assert ("77.5" in told, "42.75" in told) == (False, True)


def test_labels_of_one_tasks_submissions_make_its_route(anonymous: Client, several: Run) -> None:
    for number, methods in ((1, ["SFT"]), (2, ["GRPO"]), (3, ["SFT"])):
        MethodLabel.objects.create(
            run=several, number=number, source="rules", methods=methods, confidence="high", files_read=1, files_seen=1
        )
    assert "Route: SFT-only" in text(anonymous, several, "routes/")
    assert "Route: GRPO" in text(anonymous, several, "routes/?task=gsm8k")


def test_the_trace_hands_the_task_on(anonymous: Client, several: Run) -> None:
    assert f'href="/runs/{several.slug}/routes/?task=gsm8k"' in text(anonymous, several, "trace/?task=gsm8k")
    assert "routes/?task=humaneval" not in text(anonymous, several, "trace/?task=humaneval")


def test_submissions_that_a_transcript_does_not_name_are_not_denied(
    anonymous: Client, several: Run, tmp_path: Path
) -> None:
    script = Script()
    script.lines = ["a log without times, and without submissions"]
    trace_pages.stored(several, script, tmp_path)
    outline = trace_pages.text(anonymous, several, "outline/?task=gsm8k")
    assert "Its submissions have no place in this transcript" in outline
    assert f'href="/runs/{several.slug}/curve/?task=gsm8k"' in outline
    assert "No submission" not in outline


def test_the_strip_of_the_trace_is_of_one_task(anonymous: Client, several: Run, tmp_path: Path) -> None:
    script = Script()
    for number in (1, 2, 3):
        script.submit(number, None)
    trace_pages.stored(several, script, tmp_path)
    for task, numbers, labels in (
        ("gsm8k", ["2"], ("77.50 best so far", "20.00 baseline")),
        ("arithmetic", ["1", "3"], ("42.75 best so far", "10.00 baseline")),
        ("", ["1", "3"], ("42.75 best so far", "10.00 baseline")),
    ):
        page = trace_pages.text(anonymous, several, f"?task={task}")
        assert f'data-task="{task or "arithmetic"}"' in page
        outline = trace_pages.text(anonymous, several, f"outline/?task={task}")
        assert re.findall(r'data-mark="(\d+)"', outline) == numbers
        assert all(label in re.sub(r"<[^>]+>", "", outline) for label in labels)
    assert "data-task" not in trace_pages.text(anonymous, run_row(started_at=START), "?task=arithmetic")


@pytest.mark.parametrize("part", ["", *TABS, "trace/", "annotate/"])
def test_every_page_is_named_after_all_tasks_and_stands_below_runs(several: Run, part: str) -> None:
    Run.objects.filter(pk=several.pk).update(state="finished")
    client = Client()
    client.force_login(researcher("ada"))
    page = text(client, several, part)
    assert re.search(r"on\s+Arithmetic and GSM8K", page.split("<h1>")[1])
    assert re.search(r'aria-current="page">(Runs|Annotate)</a>', page)


def test_more_than_two_tasks_are_counted(several: Run) -> None:
    several.task_list = ["arithmetic", "gsm8k", "humaneval"]
    assert run_title(several) == "Example on 3 tasks"


def test_crumbs_lead_to_the_runs_on_the_shown_task(anonymous: Client, several: Run) -> None:
    assert 'href="/runs/?task=gsm8k">GSM8K</a>' in text(anonymous, several, "?task=gsm8k")


def test_submissions_are_counted_on_the_tab_as_on_the_page(anonymous: Client, several: Run) -> None:
    for task, count in (("arithmetic", 2), ("gsm8k", 1)):
        assert f'Submissions<small class="dim">{count}</small>' in text(anonymous, several, f"?task={task}")
    assert 'Submissions<small class="dim">' not in text(anonymous, several, "trace/")


@pytest.mark.parametrize("words", ["gsm8k", "example arithmetic", "EXAMPLE"])
def test_a_search_finds_it_by_each_task_and_by_its_agents_title(anonymous: Client, several: Run, words: str) -> None:
    for address in (f"/runs/?q={words}", f"/compare?add={words}"):
        assert several.slug in anonymous.get(address).content.decode()
    assert several.slug not in anonymous.get("/compare?add=humaneval").content.decode()
