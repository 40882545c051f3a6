"""GSM8K from its real files: counts, layout, prompts, and the extractors on the published solutions."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmark.tasks.contract import Completion, Item, Outcome, Prompt
from benchmark.tasks.data_contract import DataTarget, DataUnavailable
from benchmark.tasks.gsm8k import data as gsm8k_data
from benchmark.tasks.gsm8k import evaluator as gsm8k
from tests.unit.tasks.sources import LocalSource

TASK = Path(gsm8k_data.__file__).parent


@pytest.fixture(scope="module")
def rows(shared_data: Path) -> dict[str, list[dict[str, str]]]:
    return {
        name: [json.loads(line) for line in (shared_data / "gsm8k" / f"{name}.jsonl").read_text().splitlines()]
        for name in ("train", "test")
    }


@pytest.fixture(scope="module")
def target(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> DataTarget:
    folder = tmp_path_factory.mktemp("gsm8k")
    target = DataTarget(folder / "visible", folder / "held_out")
    target.visible.mkdir()
    target.held_out.mkdir()
    gsm8k_data.prepare(target, LocalSource(shared_data / "gsm8k"))
    return target


@pytest.fixture(scope="module")
def items(target: DataTarget) -> list[Item]:
    return list(gsm8k.evaluator().items(target.held_out))


def play(item: Item, text: str, reason: Any = "stop") -> tuple[Prompt, Outcome]:
    episode = gsm8k.evaluator().episode(item)
    prompt = next(episode)
    with pytest.raises(StopIteration) as end:
        episode.send(Completion(text, 5, reason))
    return prompt, end.value.value


def test_counts(rows: dict[str, list[dict[str, str]]]) -> None:
    golds = {name: [gsm8k.gold_answer(row["answer"]) for row in rows[name]] for name in rows}
    assert (len(rows["train"]), len(rows["test"])) == (7473, 1319)
    assert all(str(int(gold)) == gold for gold in golds["test"])
    assert sum(int(gold) < 0 for gold in golds["test"]) == 2
    assert sum(int(gold) >= 1000 for gold in golds["test"]) == 131
    commas = {name: sum("," in row["answer"].rpartition("#### ")[2] for row in rows[name]) for name in rows}
    assert commas == {"test": 14, "train": 79}


def share(rows: list[dict[str, str]], extract: Any, say: Any) -> int:
    golds = [gsm8k.gold_answer(row["answer"]) for row in rows]
    return sum(gsm8k.equal(extract(say(row, gold)), gold) for row, gold in zip(rows, golds, strict=True))


def test_extractors_on_the_published_solutions(rows: dict[str, list[dict[str, str]]]) -> None:
    def solution(row: dict[str, str], _: str) -> str:
        return row["answer"]

    def with_comma(_: dict[str, str], gold: str) -> str:
        return f"The answer is {int(gold):,}"

    def plain(_: dict[str, str], gold: str) -> str:
        return f"The answer is {gold}."

    test = rows["test"]
    assert [share(test, gsm8k.reference_last_number, say) for say in (solution, with_comma, plain)] == [
        1305,
        1188,
        1319,
    ]
    assert [share(test, gsm8k.last_number, say) for say in (solution, with_comma, plain)] == [1319, 1319, 1319]


def test_layout(target: DataTarget) -> None:
    assert sorted(f.name for f in target.visible.iterdir()) == ["train.jsonl"]
    assert sorted(f.name for f in target.held_out.iterdir()) == ["examples.jsonl", "test.jsonl"]


def test_worked_examples_come_from_the_visible_file(target: DataTarget) -> None:
    visible = {json.loads(line)["question"] for line in (target.visible / "train.jsonl").read_text().splitlines()}
    examples = [json.loads(line) for line in (target.held_out / "examples.jsonl").read_text().splitlines()]
    assert len(examples) == 4
    for example in examples:
        assert example["question"] in visible
        assert "<<" not in example["answer"]
        assert "The answer is " in example["answer"].splitlines()[-1]


def test_a_wrong_file_is_refused(shared_data: Path, tmp_path: Path) -> None:
    for name in ("train.jsonl", "test.jsonl"):
        (tmp_path / name).write_bytes((shared_data / "gsm8k" / name).read_bytes()[:-1])
    with pytest.raises(DataUnavailable):
        gsm8k_data.prepare(DataTarget(tmp_path, tmp_path), LocalSource(tmp_path))


def test_prompt(items: list[Item], rows: dict[str, list[dict[str, str]]]) -> None:
    prompt, _ = play(items[5], "")
    assert prompt.max_tokens == 512
    assert [turn.role for turn in prompt.messages] == ["user", "assistant"] * 4 + ["user"]
    question = rows["test"][5]["question"]
    assert prompt.messages[-1].content == f"Question: {question}\nLet's think step by step\nAnswer:"
    assert "18" not in prompt.messages[-1].content.removeprefix(f"Question: {question}")


def test_a_model_that_knows_every_answer(items: list[Item]) -> None:
    evaluator = gsm8k.evaluator()
    records = [record(item, f"So it is\n#### {gsm8k.gold_answer(item.payload['answer'])}") for item in items]
    metrics = evaluator.metrics(records)
    assert metrics.score == 100
    assert metrics.extra == {
        "standard_error": 0,
        "reference_accuracy": 100,
        "strict_accuracy": 100,
        "cut_off_percent": 0,
    }


def test_metrics_tell_the_rules_apart(items: list[Item]) -> None:
    big = next(i for i in items if int(gsm8k.gold_answer(i.payload["answer"])) >= 1000)
    gold = int(gsm8k.gold_answer(big.payload["answer"]))
    records = [record(big, f"The answer is {gold:,}"), record(big, f"#### {gold}\nor 1?", "length"), record(big, "")]
    metrics = gsm8k.evaluator().metrics(records)
    assert metrics.score == pytest.approx(100 / 3)
    assert metrics.extra["reference_accuracy"] == 0
    assert metrics.extra["strict_accuracy"] == pytest.approx(100 / 3)
    assert metrics.extra["cut_off_percent"] == pytest.approx(100 / 3)
    assert metrics.extra["standard_error"] == pytest.approx(100 * (2 / 9 / 3) ** 0.5)


def record(item: Item, text: str, reason: Any = "stop") -> Any:
    from benchmark.tasks.contract import Record

    _, outcome = play(item, text, reason)
    return Record(item.id, "", (text,), outcome.answer, outcome.reward, 5, reason, outcome.facts)


def test_records_do_not_carry_the_gold_answer(items: list[Item]) -> None:
    _, outcome = play(items[0], "no idea")
    assert outcome.answer == "NULL"
    assert set(outcome.facts) == {"reference_correct", "strict_correct"}


def test_task_file_agrees_with_the_code(items: list[Item]) -> None:
    task = yaml.safe_load((TASK / "task.yaml").read_text())
    assert (task["id"], task["level"], task["horizon"]) == ("gsm8k", "L1", 1)
    assert task["protocol"] == gsm8k.evaluator().protocol
    assert task["eval_size"] == len(items)
