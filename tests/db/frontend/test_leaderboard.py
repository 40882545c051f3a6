from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from benchmark.models import Run, RunState
from frontend.leaderboard import leaderboard
from frontend.leaderboard_rows import Row
from grading.models import Baseline, Evaluation, SubmissionState
from tests.support.rows import baseline_row, graded_row, run_row, submission_row, verdict_row

pytestmark = pytest.mark.django_db
FREE = {"mode": "free", "state": RunState.FINISHED}


def scored(agent: str, score: float, **values: Any) -> Run:
    run = run_row(agent=agent, **FREE | values)
    graded_row(run, score)
    return run


def rows() -> dict[str, Row]:
    (panel,) = leaderboard()
    return {row.stack.agent: row for row in panel.rows}


def test_ties_share_a_rank_and_the_earlier_is_listed_first() -> None:
    now = timezone.now()
    late, early, third = run_row(agent="late", **FREE), run_row(agent="early", **FREE), run_row(agent="third", **FREE)
    graded_row(late, 60.0, received_at=now)
    graded_row(early, 60.0, received_at=now - timedelta(hours=1))
    graded_row(third, 10.0)
    (panel,) = leaderboard()
    assert [(row.stack.agent, row.rank) for row in panel.rows] == [("early", 1), ("late", 1), ("third", 3)]
    assert [row.cells[0].rank for row in panel.rows] == [1, 1, 3]


def test_zero_is_ranked_and_unscored_is_not_but_says_why() -> None:
    scored("nothing-earned", 0.0)
    refused = run_row(agent="refused", **FREE)
    submission_row(refused, state=SubmissionState.REJECTED, verdict=verdict_row(refused, None), ended_at=timezone.now())
    run_row(agent="silent", **FREE)
    run_row(agent="broken", mode="free", state=RunState.FAILED)
    run_row(agent="under-way", mode="free")
    found = rows()
    assert (found["nothing-earned"].rank, found["nothing-earned"].cells[0].score) == (1, 0.0)
    for agent, reason in (
        ("refused", "rejected"), ("silent", "no submission"), ("broken", "failed"), ("under-way", "running"),
    ):  # fmt: skip
        assert (found[agent].rank, found[agent].cells[0].score) == (None, None)
        assert found[agent].cells[0].reason == reason


def test_the_best_of_a_stacks_runs_counts_and_says_of_how_many() -> None:
    scored("one", 20.0)
    best = scored("one", 30.0)
    scored("one", 25.0, driver="other")
    (panel,) = leaderboard()
    by_driver = {row.stack.driver: row.cells[0] for row in panel.rows}
    assert (by_driver["none"].score, by_driver["none"].runs, by_driver["none"].run) == (30.0, 2, best)
    assert by_driver["other"].runs == 1


def test_improvement_is_against_the_runs_own_baseline() -> None:
    run = scored("one", 65.2)
    baseline_row(run, 10.2)
    cell = rows()["one"].cells[0]
    assert cell.improvement == pytest.approx(55.0)
    (panel,) = leaderboard()
    assert panel.columns[0].baseline == 10.2


def test_a_stack_without_a_score_in_every_column_is_not_ranked() -> None:
    scored("both", 50.0)
    scored("both", 70.0, task="gsm8k", protocol="gsm8k/1")
    scored("one", 99.0)
    found = rows()
    assert (found["both"].rank, found["both"].mean) == (1, 60.0)
    assert (found["one"].rank, found["one"].mean, found["one"].scored) == (None, None, 1)
    assert {cell.reason for cell in found["one"].cells} == {"", "not run"}


def test_protocols_are_columns_of_their_own_and_limited_ones_are_never_ranked() -> None:
    scored("one", 50.0)
    scored("one", 90.0, protocol="arithmetic/1;limit=20")
    (panel,) = leaderboard()
    assert [column.protocol for column in panel.columns] == ["arithmetic/1"]
    assert panel.rows[0].cells[0].score == 50.0
    assert [(item.column.protocol, item.cell.score, item.cell.rank) for item in panel.unranked] == [
        ("arithmetic/1;limit=20", 90.0, None)
    ]


def test_base_models_are_panels_of_their_own_also_under_one_name() -> None:
    scored("one", 50.0, base_model="tiny", base_digest="a" * 64)
    scored("one", 60.0, base_model="tiny", base_digest="c" * 64)
    scored("one", 70.0, base_model="other", base_digest="d" * 64)
    queued = run_row(agent="one", mode="free", state=RunState.QUEUED, base_digest="", base_model="tiny")
    panels = leaderboard()
    assert [(panel.base_model, panel.digest) for panel in panels] == [
        ("tiny", "c" * 8),
        ("other", ""),
        ("tiny", "a" * 8),
    ]
    assert panels[0].runs == 2
    assert queued.base_digest == ""


def test_runs_made_elsewhere_do_not_stand_among_ours() -> None:
    scored("one", 50.0, origin="external")
    assert leaderboard() == []


def test_queries_do_not_grow_with_the_runs(django_assert_num_queries: Any) -> None:
    for number in range(12):
        baseline_of_all(scored(f"agent-{number}", number))
    with django_assert_num_queries(3):
        assert len(rows()) == 12


def baseline_of_all(run: Run) -> None:
    known = Evaluation.objects.first()
    if known is None:
        baseline_row(run)
    else:
        Baseline.objects.create(run=run, evaluation=known)


def test_everybody_reads_the_page(anyone: Client) -> None:
    run = scored("claude-code", 65.2)
    baseline_row(run, 10.2)
    scored("codex", 9.0)
    page = anyone.get("/").content.decode()
    assert f'href="/runs/{run.slug}/"' in page
    assert "+55.00" in page
    assert "The largest gain is +55.00" in page
    assert "No run is under way" in page


def test_the_empty_page_says_how_to_start(anonymous: Client, operator: Client) -> None:
    assert "make demo" in anonymous.get("/").content.decode()
    assert 'href="/runs/new"' in operator.get("/").content.decode()
    assert 'href="/runs/new"' not in anonymous.get("/").content.decode()


def test_runs_in_progress_are_listed_and_renewed_by_a_piece(anonymous: Client) -> None:
    run, ended = run_row(), run_row(state=RunState.FINISHED)
    for path in ("/", "/runs/active/"):
        text = anonymous.get(path).content.decode().split('id="active"')[1].split("</table>")[0]
        assert run.slug in text
        assert ended.slug not in text


def test_hostile_names_are_escaped(anonymous: Client) -> None:
    scored("<script>alert(1)</script>", 5.0, driver="<img src=x>", base_model="<b>base</b>")
    run_row(agent="<script>alert(2)</script>")
    page = anonymous.get("/").content.decode()
    assert "&lt;script&gt;alert(1)" in page
    for text in ("<script>alert", "<img src=x>", "<b>base"):
        assert text not in page
