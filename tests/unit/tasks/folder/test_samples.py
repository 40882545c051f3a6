"""Per-sample folders: found, split, graded with their own `eval.py`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark import catalogue
from benchmark.services.task_data import task_data, task_data_digest
from benchmark.tasks.contract import Completion, Evaluator, Item, Outcome, Record
from benchmark.tasks.data_contract import DataTarget, DataUnavailable
from benchmark.tasks.folder_task import recipe_of
from benchmark.tasks.folder_task_evaluator import ScoringFault
from benchmark.tasks.folder_task_yaml import BadFolder
from benchmark.tasks.held_out import held_out_digest
from grading.runner.faults import InfraFault
from grading.runner.task_loading import load_evaluator
from tests.unit.tasks.folder.conftest import Smith, numbered


def rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def played(evaluator: Evaluator, item: Item, text: str) -> Outcome:
    episode = evaluator.episode(item)
    next(episode)
    with pytest.raises(StopIteration) as end:
        episode.send(Completion(text, 3, "stop"))
    outcome: Outcome = end.value.value
    return outcome


def record(outcome: Outcome, number: int) -> Record:
    return Record(f"row-{number}", "", (), outcome.answer, outcome.reward, 3, "stop", outcome.facts)


def test_rows_are_split_when_there_is_no_test_file(smith: Smith, target: DataTarget) -> None:
    twice = [{**row, "answer": "again"} for row in numbered(10)[:3]]
    recipe = recipe_of(smith.folder(train=[*numbered(10), *twice]))
    recipe.prepare(target)
    visible, held_out = rows(target.visible / "train.jsonl"), rows(target.held_out / "rows.jsonl")
    assert {row["question"] for row in visible}.isdisjoint(row["question"] for row in held_out)
    assert len({row["question"] for row in held_out}) == 5
    assert len(visible) + len(held_out) == 13
    assert recipe.about["eval_size"] == len(held_out)
    assert [path.name for path in target.visible.iterdir()] == ["train.jsonl"]


def test_the_split_does_not_depend_on_the_order(smith: Smith, target: DataTarget, tmp_path: Path) -> None:
    recipe_of(smith.folder("a", train=numbered(50))).prepare(target)
    other = DataTarget(tmp_path / "v2", tmp_path / "h2")
    other.visible.mkdir()
    other.held_out.mkdir()
    recipe_of(smith.folder("b", train=numbered(50)[::-1])).prepare(other)
    assert sorted(map(str, rows(target.held_out / "rows.jsonl"))) == sorted(
        map(str, rows(other.held_out / "rows.jsonl"))
    )


def test_a_test_file_is_held_out_and_its_questions_leave_the_visible_rows(smith: Smith, target: DataTarget) -> None:
    leaked = {"question": "What  is 3?\n", "answer": "3"}
    recipe = recipe_of(smith.folder(train=numbered(6), test=[leaked, {"question": "Q", "answer": "A"}]))
    recipe.prepare(target)
    assert [row["question"] for row in rows(target.held_out / "rows.jsonl")] == ["What  is 3?\n", "Q"]
    assert "What is 3?" not in {row["question"] for row in rows(target.visible / "train.jsonl")}


def test_the_number_held_out_can_be_set(smith: Smith, target: DataTarget) -> None:
    recipe_of(smith.folder(train=numbered(9), config="held_out: 7\n")).prepare(target)
    assert len(rows(target.held_out / "rows.jsonl")) == 7


@pytest.mark.parametrize(("config", "what"), [("held_out: -1\n", "held_out"), ("prompt: verse\n", "prompt")])
def test_wrong_keys_are_named(smith: Smith, config: str, what: str) -> None:
    with pytest.raises(BadFolder, match=what):
        recipe_of(smith.folder(train=numbered(4), config=config))


def test_missing_and_broken_data_are_named(smith: Smith, target: DataTarget) -> None:
    folder = smith.folder(train=numbered(4))
    (folder / "data" / "train.jsonl").write_text('{"question": "a", "answer": 1}\n{"question": ""}\n')
    with pytest.raises(DataUnavailable, match="line 2"):
        recipe_of(folder)
    (folder / "data" / "train.jsonl").unlink()
    (folder / "download_data.py").write_text("raise SystemExit('never run')")
    with pytest.raises(DataUnavailable, match=r"download_data\.py first"):
        recipe_of(folder).prepare(target)


def test_grading(smith: Smith, target: DataTarget) -> None:
    train = [*numbered(2), {"question": {"grid": [1]}, "answer": "Paris"}, {"question": "Capital?", "answer": "Oslo"}]
    folder = smith.folder(train=[{"question": "visible", "answer": "x"}], test=train)
    recipe = recipe_of(folder)
    recipe.prepare(target)
    evaluator = load_evaluator(folder, str(recipe.about["protocol"]))
    items = evaluator.items(target.held_out)
    prompts = [next(evaluator.episode(item)) for item in items]
    assert [prompt.text for prompt in prompts] == ["What is 0?", "What is 1?", '{"grid": [1]}', "Capital?"]
    assert {prompt.max_tokens for prompt in prompts} == {2048}
    outcomes = [
        played(evaluator, item, text) for item, text in zip(items, ["0", "one", "Paris", "in Oslo"], strict=True)
    ]
    assert [outcome.reward for outcome in outcomes] == [1.0, 0.0, 1.0, 0.5]
    assert outcomes[1].facts["raised"].startswith("ValueError: invalid literal")
    metrics = evaluator.metrics([record(outcome, number) for number, outcome in enumerate(outcomes)])
    assert metrics.score == 62.5
    assert metrics.extra["raised_percent"] == 25
    assert metrics.extra["full_marks_percent"] == 50
    assert metrics.extra["standard_error"] == pytest.approx(23.9357, abs=1e-4)


def test_chat_prompts(smith: Smith) -> None:
    recipe = recipe_of(smith.folder(train=numbered(4), config="prompt: chat\nmax_tokens: 64\n"))
    prompt = next(recipe.evaluator().episode(Item("row-0", numbered(1)[0])))
    assert (prompt.messages[0].role, prompt.messages[0].content, prompt.max_tokens) == ("user", "What is 0?", 64)


@pytest.mark.parametrize(
    "code",
    [
        "def evaluate(question, model_answer, reference_answer, **extra):\n    return 1 / 0\n",
        "def evaluate(question, model_answer, reference_answer, **extra):\n    return 3.0\n",
        "def evaluate(question, model_answer, reference_answer, **extra):\n    return float('nan')\n",
        "def evaluate(question, model_answer, reference_answer, **extra):\n    return None\n",
        "def evaluate(question, answer):\n    return 1.0\n",
    ],
)
def test_a_broken_scorer_is_our_fault_and_no_zero(smith: Smith, code: str) -> None:
    recipe = recipe_of(smith.folder(train=numbered(4), code=code))
    episode = recipe.evaluator().episode(Item("row-0", numbered(1)[0]))
    next(episode)
    with pytest.raises(ScoringFault):
        episode.send(Completion("1", 1, "stop"))


def test_other_code_or_data_is_another_protocol(smith: Smith) -> None:
    folder = smith.folder(train=numbered(4))
    first = recipe_of(folder).about["protocol"]
    assert recipe_of(folder).about["protocol"] == first
    (folder / "eval.py").write_text("def evaluate(*a, **k): return 1.0\n")
    second = recipe_of(folder).about["protocol"]
    (folder / "data" / "train.jsonl").write_text('{"question": "a", "answer": 1}\n{"question": "b", "answer": 2}\n')
    assert len({first, second, recipe_of(folder).about["protocol"]}) == 3
    with pytest.raises(InfraFault, match="I_PROTOCOL"):
        load_evaluator(folder, str(first))


@pytest.fixture
def found(smith: Smith, settings: Any) -> Iterator[Smith]:
    settings.TASK_DIRS = [*settings.TASK_DIRS, smith.directory]
    catalogue.tasks.cache_clear()
    yield smith
    catalogue.tasks.cache_clear()


def test_the_catalogue_finds_them(found: Smith) -> None:
    found.folder("capitals", train=numbered(8))
    found.folder("_template", train=numbered(8))
    (found.folder("mmlu", train=numbered(8)) / "config.yaml").write_text("name: mmlu\neval_mode: opencompass\n")
    task = catalogue.task_get("smith-capitals")
    assert (task.level, task.eval_size, task.summary) == ("L1", 4, "Say the capital.")
    assert "4 held-out questions" in task.description
    assert {"gsm8k", "humaneval"} < set(catalogue.tasks())
    assert not {"smith-mmlu", "smith-_template"} & set(catalogue.tasks())


def test_a_written_description_is_shown_too(found: Smith) -> None:
    (found.folder("capitals", train=numbered(8)) / "description.md").write_text("# Capitals of the world\n")
    assert catalogue.task_get("smith-capitals").description.startswith("# Capitals of the world\n\n## How a submission")


def test_their_data_is_prepared_once_and_anew_when_it_changes(found: Smith, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "var"
    folder = found.folder("capitals", train=numbered(8))
    first = task_data(catalogue.task_get("smith-capitals"))
    assert len(rows(first.visible / "train.jsonl")) == 4
    assert task_data(catalogue.task_get("smith-capitals")) == first
    assert task_data_digest(catalogue.task_get("smith-capitals")) == held_out_digest(first.held_out)
    (folder / "config.yaml").write_text("name: capitals\nheld_out: 2\n")
    catalogue.tasks.cache_clear()
    second = task_data(catalogue.task_get("smith-capitals"))
    assert second != first
    assert len(rows(second.visible / "train.jsonl")) == 6
