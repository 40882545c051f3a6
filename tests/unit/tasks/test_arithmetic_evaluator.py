"""The evaluator of `arithmetic`: what is right, and what the score says."""

import math
from pathlib import Path

import pytest
import yaml

from benchmark.tasks.arithmetic import data
from benchmark.tasks.arithmetic.evaluator import evaluator
from benchmark.tasks.contract import Completion, FinishReason, Item, Outcome, Record
from benchmark.tasks.data_contract import DataTarget

FOLDER = Path(data.__file__).parent
ITEM = Item("sum-000", {"question": "27+85=", "answer": "112"})


def play(text: str, reason: FinishReason = "stop") -> Outcome:
    episode = evaluator().episode(ITEM)
    next(episode)
    with pytest.raises(StopIteration) as ended:
        episode.send(Completion(text, len(text), reason))
    outcome = ended.value.value
    assert isinstance(outcome, Outcome)
    return outcome


def record(text: str, reason: FinishReason = "stop") -> Record:
    outcome = play(text, reason)
    return Record(ITEM.id, "", (text,), outcome.answer, outcome.reward, len(text), reason, outcome.facts)


def test_the_prompt_is_raw_text_that_ends_at_a_line() -> None:
    prompt = next(evaluator().episode(ITEM))
    assert (prompt.text, prompt.messages, prompt.stop, prompt.max_tokens) == ("27+85=", (), ("\n",), 8)


@pytest.mark.parametrize("text", ["112", " 112", "112  "])
def test_right(text: str) -> None:
    assert play(text).reward == 1.0


@pytest.mark.parametrize("text", ["", "102", "0112", "112.0", "112=", "1 12", "the sum is 112", "112</s>", "١١٢"])
def test_wrong(text: str) -> None:
    assert play(text).reward == 0.0


def test_score_and_extras() -> None:
    records = [record("112"), record("102"), record("11211211", "length"), record("abc")]
    metrics = evaluator().metrics(records)
    assert metrics.score == 25.0
    assert metrics.extra["cut_off_percent"] == 25.0
    assert metrics.extra["non_numeric_percent"] == 25.0
    assert metrics.extra["standard_error"] == pytest.approx(100 * math.sqrt(0.25 * 0.75 / 4))


def test_items_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    data.prepare(DataTarget(tmp_path, tmp_path))
    items = evaluator().items(tmp_path)
    assert [item.id for item in items] == [f"sum-{number:03d}" for number in range(500)]
    assert [item.payload["question"] for item in items] == [data.question(terms) for terms in data.held_out_sums()]


def test_the_description_of_the_task_agrees_with_its_code() -> None:
    about = yaml.safe_load((FOLDER / "task.yaml").read_text(encoding="utf-8"))
    assert about["protocol"] == evaluator().protocol
    assert about["eval_size"] == data.HELD_OUT_ITEMS
    assert about["id"] == FOLDER.name
