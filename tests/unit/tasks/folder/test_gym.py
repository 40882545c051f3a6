"""reasoning-gym's data sets as tasks. What needs the package is skipped where it is not installed."""

import ast
import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmark import catalogue
from benchmark.tasks.contract import Completion, Item, Outcome, Record
from benchmark.tasks.data_contract import DataTarget, DataUnavailable
from benchmark.tasks.folder_task import recipe_of
from benchmark.tasks.folder_task_yaml import REASONING_GYM_FOLDER, BadFolder
from benchmark.tasks.reasoning_gym.generator import Generator
from benchmark.tasks.reasoning_gym.guard import EVALUATED, PARSED, may_be_scored
from benchmark.tasks.reasoning_gym.gym_evaluator import GymEvaluator, tagged_answer
from benchmark.tasks.reasoning_gym.recipe import GymRecipe, known_datasets
from grading.runner.task_loading import load_evaluator

PACKAGE = find_spec("reasoning_gym")
installed = pytest.mark.skipif(PACKAGE is None, reason="reasoning-gym is not installed")


def small(dataset: str, held_out: int = 6, visible: int = 10) -> GymRecipe:
    return GymRecipe(f"reasoning-gym:{dataset}", dataset, held_out, visible)


def played(evaluator: GymEvaluator, item: Item, text: str) -> Outcome:
    episode = evaluator.episode(item)
    next(episode)
    with pytest.raises(StopIteration) as end:
        episode.send(Completion(text, 3, "stop"))
    outcome: Outcome = end.value.value
    return outcome


def test_an_id_names_a_task() -> None:
    task = catalogue.task_get("reasoning-gym:chain_sum")
    assert (task.level, task.eval_size, task.folder) == ("L1", 200, REASONING_GYM_FOLDER)
    assert task.protocol.startswith("reasoning-gym:chain_sum/")
    assert "data set `chain_sum`" in task.description
    assert len(catalogue.task_get("reasoning-gym:intermediate_integration").protocol) <= 64
    for name in ("../x", "no_such_thing"):
        with pytest.raises(catalogue.CatalogueError, match="is no name"):
            catalogue.task_get(f"reasoning-gym:{name}")
    with pytest.raises(catalogue.CatalogueError, match=r"near are .*chain_sum"):
        catalogue.task_get("reasoning-gym:chain_sums")


def test_three_lines_name_a_task(tmp_path: Path, settings: Any) -> None:
    folder = tmp_path / "sums"
    folder.mkdir()
    (folder / "task.yaml").write_text("id: long-sums\nreasoning_gym: chain_sum\nconfig: {min_terms: 5, max_terms: 6}\n")
    settings.TASK_DIRS = [*settings.TASK_DIRS, tmp_path]
    catalogue.tasks.cache_clear()
    try:
        task = catalogue.task_get("long-sums")
    finally:
        catalogue.tasks.cache_clear()
    assert task.protocol.startswith("long-sums/")
    assert load_evaluator(folder, task.protocol).protocol == task.protocol


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("id: a\n", "reasoning_gym"),
        ("reasoning_gym: chain_sum\n", "id"),
        ("id: a\nreasoning_gym: chain_sum\nheld_out: none\n", "held_out"),
        ("id: a\nreasoning_gym: chain_sum\nconfig: {seed: 1}\n", "config"),
    ],
)
def test_wrong_keys_are_named(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "task.yaml").write_text(text)
    with pytest.raises(BadFolder, match=what):
        recipe_of(tmp_path)


def test_answers_are_taken_from_their_tags() -> None:
    assert tagged_answer("<answer>1</answer> no, <answer> 2\n</answer>") == "2"
    assert tagged_answer("2") is None


@pytest.mark.parametrize("dataset", sorted(EVALUATED))
def test_nothing_is_executed_by_eval(dataset: str) -> None:
    for honest in ("[[1, 0], [0, 1]]", "[(1, 2), (3, 4)]", "1 2 3", "ABBA", "Q _ _ _\n_ _ Q _", "['A', 'B']"):
        assert may_be_scored(dataset, honest)
    for hostile in ("open('/x')", "__import__('os')._exit(0)", "[f() for f in [exit]]", "(lambda: 1)()", "f'{exit()}'"):
        assert not may_be_scored(dataset, hostile)


@pytest.mark.parametrize("dataset", sorted(PARSED))
def test_nothing_is_executed_by_sympy(dataset: str) -> None:
    for honest in ("(1 + 2)*3", "x**3/3 + 2*x + C", "-cos(x)*exp(2*x)/5 + log(x)", "12.5 - 3/4", "8*x**2 - sqrt(x)"):
        assert may_be_scored(dataset, honest)
    hostile = [
        "exec('1')",
        "exec(x)",
        "x.subs(x, 1)",
        "__import__(x)",
        "S('exit()')",
        "open(x)",
        "sympify(x)",
        "x!",
        "[exit]",
    ]
    for text in [*hostile, "getattr(x, y)", "lambda: 1", "1 .real", "1\u2024real", "9" * 3000]:
        assert not may_be_scored(dataset, text), text


@installed
def test_the_list_of_scorers_that_execute_answers_is_complete() -> None:
    """A function of a data set that scores and mentions eval, exec, parse_expr or sympify belongs on the list."""
    assert PACKAGE is not None
    assert PACKAGE.origin is not None
    executing = {"eval", "exec", "parse_expr", "sympify", "S", "compile", "__import__", "import_module"}
    found = set()
    for path in Path(PACKAGE.origin).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name == "score_answer":
                calls = [call.func for call in ast.walk(node) if isinstance(call, ast.Call)]
                names = {getattr(call, "id", getattr(call, "attr", "")) for call in calls}
                if names & executing:
                    found.add(path.stem)
    # These two evaluate text of their own, never the answer.
    assert found - {"number_sorting", "propositional_logic"} == EVALUATED | PARSED


@installed
@pytest.mark.parametrize("dataset", ["chain_sum", "isomorphic_strings", "spiral_matrix"])
def test_split(dataset: str, target: DataTarget) -> None:
    recipe = small(dataset)
    recipe.prepare(target)
    visible = [json.loads(line) for line in (target.visible / "train.jsonl").read_text().splitlines()]
    evaluator = GymEvaluator(recipe)
    items = evaluator.items(target.held_out)
    assert (len(visible), len(items)) == (10, 6)
    questions = [row["question"] for row in visible] + [item.payload["question"] for item in items]
    assert len(set(questions)) == 16


@installed
def test_grading(target: DataTarget) -> None:
    recipe = small("chain_sum", held_out=3)
    recipe.prepare(target)
    evaluator = GymEvaluator(recipe)
    items = evaluator.items(target.held_out)
    right = str(eval(items[0].payload["question"].split(":")[-1].split("=")[0].strip(" ?.")))
    outcomes = [played(evaluator, items[0], f"So <answer>{right}</answer>"), played(evaluator, items[1], right)]
    outcomes.append(played(evaluator, items[2], "<answer>no idea</answer>"))
    assert [outcome.reward for outcome in outcomes][:2] == [1.0, 0.0]
    assert [outcome.facts["outcome"] for outcome in outcomes] == ["scored", "no_answer", "scored"]
    records = [Record(str(n), "", (), o.answer, o.reward, 3, "stop", o.facts) for n, o in enumerate(outcomes)]
    metrics = evaluator.metrics(records)
    assert metrics.extra["full_marks_percent"] == pytest.approx(100 / 3)
    assert metrics.extra["no_answer_percent"] == pytest.approx(100 / 3)


@installed
def test_an_answer_that_never_ends_earns_nothing(target: DataTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmark.tasks.reasoning_gym.generator.SCORE_S", 3.0)
    recipe = small("countdown", held_out=1, visible=1)
    recipe.prepare(target)
    evaluator = GymEvaluator(recipe)
    item = evaluator.items(target.held_out)[0]
    outcome = played(evaluator, item, "<answer>9**9**9**9**9</answer>")
    assert (outcome.reward, outcome.facts["outcome"]) == (0.0, "too_costly")
    assert played(evaluator, item, "<answer>1+1</answer>").facts["outcome"] == "scored"


@installed
def test_too_few_problems_are_said(target: DataTarget) -> None:
    tiny = GymRecipe("a", "count_bits", held_out=3, visible=3, config={"min_n": 1, "max_n": 4})
    with pytest.raises(DataUnavailable, match="too few different problems: 1 of 3"):
        tiny.prepare(target)


@installed
def test_the_known_data_sets_are_those_of_the_package() -> None:
    assert known_datasets() == sorted(import_module("reasoning_gym.factory").DATASETS)


@installed
def test_an_unknown_data_set_is_said() -> None:
    with pytest.raises(DataUnavailable, match="no_such_thing"):
        Generator("no_such_thing", {}, seed=0, size=1).problem(0)


@pytest.mark.skipif(PACKAGE is not None, reason="reasoning-gym is installed")
def test_a_missing_package_is_said(target: DataTarget) -> None:
    with pytest.raises(DataUnavailable, match="pip install reasoning-gym=="):
        small("chain_sum").prepare(target)
