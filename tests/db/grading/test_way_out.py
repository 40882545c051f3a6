"""What the worker opens for an evaluation: the task's needs, one socket, and a tally over all attempts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark.catalogue import task_get
from grading.models import Evaluation
from grading.runner.services import SocketServices
from grading.services.desks import NotConfigured, desks_of_task
from grading.services.places import evaluation_folder
from grading.services.way_out import INSIDE, WayOut
from tests.support.judge import ScriptedJudge, says
from tests.support.rows import evaluation_row, run_row

pytestmark = pytest.mark.django_db
ASKED = {"messages": [{"role": "user", "content": "which?"}]}


def way_out_of(row: Evaluation) -> WayOut:
    return WayOut(f"evaluation-{row.pk}", evaluation_folder(row), desks_of_task(task_get(row.task), row.protocol))


@pytest.fixture
def scripted(settings: Any, tmp_path: Path) -> Iterator[ScriptedJudge]:
    with ScriptedJudge(says("A")) as judge:
        settings.DATA_DIR = tmp_path
        settings.JUDGE_URL, settings.JUDGE_MODEL, settings.JUDGE_KEY = judge.url, judge.model, judge.key
        settings.JUDGE_PARAMETERS, settings.GRADING_LIMIT = {}, None
        settings.JUDGE_PRICE_IN = settings.JUDGE_PRICE_OUT = 1.0
        yield judge


@pytest.fixture
def evaluation(scripted: ScriptedJudge, tmp_path: Path) -> Evaluation:
    run = run_row(task="alpacaeval", protocol=f"alpacaeval/1;judge={scripted.model};limit=4")
    row = evaluation_row(run, "d1")
    (tmp_path / "evaluations" / str(row.pk)).mkdir(parents=True)
    return row


def test_a_task_without_needs_opens_nothing(scripted: ScriptedJudge, tmp_path: Path) -> None:
    row = evaluation_row(run_row(), "d1")
    with way_out_of(row) as way_out:
        assert way_out.mount(isolated=True) is None
        assert way_out.metrics() == {}
    assert not (tmp_path / "outside").exists()


def test_the_judge_answers_while_it_is_open(evaluation: Evaluation, scripted: ScriptedJudge) -> None:
    with way_out_of(evaluation) as way_out:
        mount, plain = way_out.mount(isolated=True), way_out.mount(isolated=False)
        assert mount is not None
        assert plain is not None
        assert mount.target == INSIDE
        assert str(plain.target) == str(mount.source)
        assert oct(mount.source.parent.stat().st_mode & 0o777) == "0o700"
        SocketServices(mount.source).chat(ASKED)
        assert way_out.metrics()["judge_calls"] == 1
        assert way_out.versions() == {"judge": scripted.model, "judge_answered_as": scripted.model}
    assert not mount.source.exists()


def test_attempts_are_counted_together(evaluation: Evaluation, scripted: ScriptedJudge) -> None:
    for _ in range(2):
        with way_out_of(evaluation) as way_out:
            mount = way_out.mount(isolated=True)
            assert mount is not None
            SocketServices(mount.source).chat(ASKED)
            told = way_out.metrics()
    assert (told["judge_calls"], told["judge_cache_hits"], told["judge_tokens_in"]) == (1, 1, 100)
    assert told["judge_cost"] == pytest.approx(101e-6)


def test_without_a_judge_nothing_is_started(evaluation: Evaluation, settings: Any) -> None:
    settings.JUDGE_URL = settings.JUDGE_MODEL = ""
    with pytest.raises(NotConfigured, match="AGENT2_JUDGE_URL"):
        way_out_of(evaluation)


def test_another_judge_than_the_runs_is_refused(evaluation: Evaluation, settings: Any) -> None:
    settings.JUDGE_MODEL = "another"
    with pytest.raises(NotConfigured, match=r"belongs to alpacaeval/1;judge=scripted-judge-1; .*;judge=another"):
        way_out_of(evaluation)
