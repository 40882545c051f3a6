"""A task that needs a judge: refused with the setting's name where there is none, and named after it where there is."""

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from benchmark import catalogue
from benchmark.models import Run
from benchmark.services.needs import needs_missing
from benchmark.services.protocols import protocol_in_force, protocol_is_ranked, protocol_unlimited
from benchmark.services.runs import run_create
from benchmark.services.worker_check import worker_notices, worker_problems
from frontend.forms import RunForm

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _unset(settings: Any) -> None:
    settings.JUDGE_URL = settings.JUDGE_MODEL = settings.SEARCH_BACKEND = ""
    settings.JUDGE_PARAMETERS, settings.GRADING_LIMIT = {}, None


@pytest.fixture
def judge(settings: Any) -> Any:
    settings.JUDGE_URL, settings.JUDGE_MODEL = "http://127.0.0.1:9/v1", "org/judge-1"
    return settings


def create(task: str) -> Run:
    return run_create(agent="example", task=task, base_model="tiny", budget_s=600)


def test_without_a_judge_no_run_is_stored_and_the_settings_are_named() -> None:
    with pytest.raises(ValidationError) as told:
        create("alpacaeval")
    [message] = told.value.message_dict["task"]
    assert message == ("AlpacaEval 2.0 needs a judge: set AGENT2_JUDGE_URL, AGENT2_JUDGE_MODEL and AGENT2_JUDGE_KEY.")
    assert not Run.objects.exists()
    assert create("arithmetic").protocol == "arithmetic/1"


def test_the_form_and_the_worker_say_so_too() -> None:
    label = dict(RunForm().fields["task"].choices)["alpacaeval"]  # type: ignore[attr-defined]
    assert "not here yet: AlpacaEval 2.0 needs a judge: set AGENT2_JUDGE_URL" in label
    assert any("AGENT2_JUDGE_URL" in notice for notice in worker_notices({"grading"}))
    (installed,) = worker_notices({"agents"})
    assert "agent_install" in installed
    assert "example" not in installed
    assert worker_notices({"default"}) == []


def test_with_a_judge_its_name_is_part_of_the_protocol(judge: Any) -> None:
    assert create("alpacaeval").protocol == "alpacaeval/1;judge=org/judge-1"
    assert "not here yet" not in dict(RunForm().fields["task"].choices)["alpacaeval"]  # type: ignore[attr-defined]


def test_other_parameters_make_another_judge(judge: Any) -> None:
    task = catalogue.task_get("alpacaeval")
    plain = protocol_in_force(task)
    judge.JUDGE_PARAMETERS = {"temperature": 1}
    warm = protocol_in_force(task)
    judge.JUDGE_PARAMETERS = {"temperature": 0.5}
    assert len({plain, warm, protocol_in_force(task)}) == 3
    assert warm.startswith("alpacaeval/1;judge=org/judge-1+")


def test_only_a_limit_takes_a_protocol_out_of_the_ranking(judge: Any) -> None:
    task = catalogue.task_get("alpacaeval")
    whole = protocol_in_force(task)
    judge.GRADING_LIMIT = 4
    limited = protocol_in_force(task)
    assert limited == whole + ";limit=4"
    assert protocol_unlimited(limited) == protocol_unlimited(whole) == whole
    assert (protocol_is_ranked(whole), protocol_is_ranked(limited)) == (True, False)
    assert protocol_in_force(catalogue.task_get("gsm8k")) == "gsm8k/1;limit=4"


def test_a_protocol_id_that_would_not_fit_is_refused(judge: Any) -> None:
    judge.JUDGE_MODEL, judge.JUDGE_PARAMETERS = "j" * 64, {"temperature": 1}
    judge.SEARCH_BACKEND, judge.SEARCH_SNAPSHOT = "duckduckgo", "s" * 64
    assert "AGENT2_SEARCH_SNAPSHOT" in needs_missing(catalogue.task_get("deepsearchqa"))
    assert needs_missing(catalogue.task_get("alpacaeval")) == ""


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("eval_size: 1\nneeds: [oracle]\n", r"needs must be a list of judge, search, not \['oracle'\]"),
        ("eval_size: all\n", "eval_size must be a whole number, not 'all'"),
    ],
)
def test_an_unknown_need_or_size_is_refused(tmp_path: Path, settings: Any, line: str, says: str) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    about = "id: mine\ntitle: Mine\nlevel: L1\nprotocol: mine/1\nsummary: s\nmetric: m\n"
    (folder / "task.yaml").write_text(about + line)
    (folder / "evaluator.py").write_text("")
    settings.TASK_DIRS = [tmp_path]
    catalogue.tasks.cache_clear()
    try:
        with pytest.raises(catalogue.CatalogueError, match=says):
            catalogue.tasks()
    finally:
        catalogue.tasks.cache_clear()


@pytest.mark.parametrize(
    ("setting", "value", "says"),
    [("ALLOW", ["https://pypi.org"], "https://pypi.org"), ("PRICES_FILE", Path("/nowhere.yaml"), "/nowhere.yaml")],
)
def test_what_is_written_wrong_about_the_way_out_keeps_a_worker_from_starting(
    settings: Any, setting: str, value: Any, says: str
) -> None:
    setattr(settings, setting, value)
    assert any(says in told for told in worker_problems({"agents"}))
