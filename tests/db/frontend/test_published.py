"""Published results as rows: with their table, once, and never among runs made here."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.db.models import Count

from benchmark.models import Origin, Run
from frontend.published import scores
from frontend.published.loading import PROTOCOL, published_load, standard_error
from grading.models import Submission, TaskStanding
from tests.support.rows import graded_row, run_row

pytestmark = pytest.mark.django_db


def test_every_printed_score_is_a_standing_with_its_table() -> None:
    told = StringIO()
    call_command("load_published", stdout=told)
    assert told.getvalue() == "62 published runs in place.\n"
    stored = {
        (s.run.source["table"], s.run.driver, s.run.mode, s.run.base_model, s.task): s.value
        for s in TaskStanding.objects.select_related("run")
        if s.run.agent in {"claude-code", "codex-cli"} or s.run.source["table"] == "2A"
    }
    for row in scores().rows:
        for task, score in row.scores.items():
            if row.table != "2A":
                assert stored[row.table, row.driver, row.mode, row.base_model, task] == score
    assert TaskStanding.objects.count() == 12 * 6
    assert not Submission.objects.exists()


def test_improvements_are_the_printed_gains() -> None:
    published_load()
    for printed in scores().printed_gains:
        if printed.mode == "best-observed":
            continue
        rows = TaskStanding.objects.filter(
            run__source__table=printed.table, run__driver=printed.driver, run__mode=printed.mode
        ).select_related("run")
        mine = {s.task: s for s in rows if s.run.agent == printed.agent.lower().replace(" ", "-")}
        assert {task: round(s.improvement or 0.0, 2) for task, s in mine.items()} == printed.gains


def test_loading_again_changes_nothing_and_mends() -> None:
    published_load()
    before = set(Run.objects.values_list("pk", "slug"))
    Run.objects.filter(slug="paper-16-1-gsm8k").update(driver="someone")
    TaskStanding.objects.filter(run__slug="paper-16-1-alfworld").update(best=1.0)
    stale = run_row(origin=Origin.PUBLISHED, slug="paper-99-1-gsm8k", source={"paper": scores().source.title})
    ours = run_row()
    published_load()
    assert set(Run.objects.filter(origin=Origin.PUBLISHED).values_list("pk", "slug")) == before
    assert Run.objects.get(slug="paper-16-1-gsm8k").driver == "Claude Opus 4.6"
    assert TaskStanding.objects.get(run__slug="paper-16-1-alfworld").best == 97.76
    assert not Run.objects.filter(pk=stale.pk).exists()
    assert Run.objects.filter(pk=ours.pk).exists()


def test_a_cell_is_a_run_and_a_multi_row_is_one_run() -> None:
    published_load()
    of_row = dict(Run.objects.values_list("slug").annotate(n=Count("standings")))
    assert {slug: n for slug, n in of_row.items() if n > 1} == {"paper-3-4-multi": 6, "paper-15-2-multi": 6}
    assert Run.objects.get(slug="paper-3-4-multi").tasks == list(scores().tasks)


def test_a_run_that_two_tables_print_is_marked() -> None:
    published_load()
    twice = Run.objects.filter(source__repeats="16")
    assert set(twice.values_list("task", flat=True)) == set(scores().tasks) - {"gsm8k"}
    assert {run.source["table"] for run in twice} == {"15"}
    assert (
        Run.objects.filter(task="gsm8k", driver="Claude Opus 4.6", base_model="Qwen3-8B-Base", mode="free").count() == 2
    )


def test_published_runs_have_a_protocol_of_their_own() -> None:
    published_load()
    graded_row(run_row(task="gsm8k", protocol="gsm8k/1"), 50.0)
    assert set(TaskStanding.objects.filter(protocol=PROTOCOL).values_list("run__origin", flat=True)) == {"published"}
    assert set(TaskStanding.objects.exclude(protocol=PROTOCOL).values_list("run__origin", flat=True)) == {"local"}


def test_the_standard_error_is_that_of_a_share() -> None:
    assert standard_error("webshop", 50.0) == pytest.approx(5.0)
    assert standard_error("gsm8k", 100.0) == 0.0
