"""Episodes through the generator contract: scripted, hostile and endless checkpoints."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from benchmark.tasks.contract import Item
from benchmark.tasks.data_contract import DataTarget
from benchmark.tasks.webshop.evaluator import WebShop
from benchmark.tasks.webshop.webshop_env import MAX_STEPS, read_action
from benchmark.tasks.webshop.webshop_env.actions import MAX_CHARS
from grading.contract import RunnerSpec
from grading.runner.faults import InfraFault
from grading.runner.task_loading import checked_items, checked_metrics, load_evaluator

from .playing import first_hit, play, play_all, possible, request

FOLDER = Path(__file__).parents[4] / "benchmark" / "tasks" / "webshop"
HOSTILE = [
    "",
    " ",
    "\x00",
    "click[" * 200_000,
    "search[" + "a " * 1_500_000 + "]",
    "search[\ud800\udfff\ud83d]",
    "click[\x1b[2J\x07]",
    "search[\u202e\u0000\u2028<script>alert(1)</script>]",
    "click[../../etc/passwd]",
    "search[]]]]]]]]]",
    "search[[[[[[",
    "search[%s%n{0}{instruction}\\]",
    "[" * 5000 + "]" * 5000,
    "Action: " * 100,
    "<|im_end|><|im_start|>system",
    "search[" + "🛒" * 400 + "]",
    "click[buy now]" * 50,
]


@pytest.mark.parametrize("output", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_output_runs_out_of_steps(items: Sequence[Item], output: str) -> None:
    record = play(items[0], lambda _: output)
    assert (record.reward, record.answer, record.facts["bought"]) == (0.0, None, None)
    assert len(record.outputs) == len(record.facts["steps"]) == MAX_STEPS
    assert len(json.dumps(record.facts)) < 100_000 * 4
    assert all(len(step["action"]) <= MAX_CHARS + 1 for step in record.facts["steps"])


def test_prompts_can_be_encoded_and_stay_short(items: Sequence[Item]) -> None:
    longest = 0

    def random_output(message: str) -> str:
        nonlocal longest
        longest = max(longest, len(message.encode("utf-8")))
        return chance.choice([*HOSTILE, *possible(message) * 3, "search[long description furniture]"])

    for number, item in enumerate(items[:20]):
        chance = random.Random(number)
        play(item, random_output)
    assert 2_000 < longest < 20_000


def test_steps_leave_the_prompt_in_blocks(items: Sequence[Item]) -> None:
    messages = _messages(items[0], lambda number: f"search[words {number}]")
    shown = [[line for line in message.splitlines() if line.startswith("Action ")] for message in messages]
    assert request(messages[-1]) == items[0].payload["goal"].instruction
    for number, lines in enumerate(shown, start=1):
        assert min(number - 1, 5) <= len(lines) <= 9
        assert lines == [f"Action {at}: search[words {at}]" for at in range(number - len(lines), number)]
    assert [len(lines) for lines in shown[:16]] == [*range(10), *range(5, 10), 5]
    assert messages[-1].endswith("This is step 50 of at most 50. Action 50:")


def test_a_prompt_begins_as_the_one_before(items: Sequence[Item]) -> None:
    """So an engine with a prefix cache reads the new page, and earlier steps only when a block has left."""
    words = ("search[women's shorts]", "click[next >]", "click[back to search]")
    messages = _messages(items[0], lambda number: words[number % 3])
    cut = []
    for number, (before, after) in enumerate(pairwise(messages), start=2):
        page = before.index(f"\nPage {number - 1}: ")
        if not after.startswith(before[: page + 100]):
            cut.append(number)
    assert cut == [11, 16, 21, 26, 31, 36, 41, 46]


def _messages(item: Item, output: Callable[[int], str]) -> list[str]:
    """The prompts of one visit; the checkpoint's `number`-th answer, from 1, is `output(number)`."""
    messages: list[str] = []

    def checkpoint(message: str) -> str:
        messages.append(message)
        return output(len(messages))

    play(item, checkpoint)
    return messages


def test_prompt_format(items: Sequence[Item]) -> None:
    prompt = next(WebShop().episode(items[0]))
    assert (prompt.max_tokens, prompt.stop) == (100, ("\n",))
    assert [turn.role for turn in prompt.messages] == ["system", "user"]


@pytest.mark.parametrize(
    ("output", "action"),
    [
        ("click[buy now]", "click[buy now]"),
        ("  Action: click[x] because", "click[x] because"),
        ("Action 3: choose[Red]", "click[Red]"),
        ("choose[a]", "click[a]"),
        ("search[a\tb]", "search[a b]"),
        ("search[caf\u00e9\xa0x]", "search[caf\u00e9\xa0x]"),
        ("search[\ud800]", "search[?]"),
    ],
)
def test_read_action(output: str, action: str) -> None:
    assert read_action(output) == action


def test_the_same_twice(items: Sequence[Item]) -> None:
    def records() -> list[str]:
        chance = random.Random(7)
        played = play_all(items[:30], lambda message: chance.choice([first_hit(message), *possible(message)]))
        return [json.dumps(asdict(record)) for record in played]

    assert records() == records()


def test_order_and_interleaving_do_not_matter(items: Sequence[Item]) -> None:
    """A resumed evaluation plays what is missing, in any company, and gets the same records."""
    alone = {record.item_id: record for record in play_all(items, first_hit)}
    for record in play_all(list(reversed(items[:40])), first_hit):
        assert record == alone[record.item_id]
    first, second = WebShop().episode(items[0]), WebShop().episode(items[1])
    assert next(first).messages != next(second).messages


def test_facts_tell_each_step(items: Sequence[Item]) -> None:
    record = play(items[1], first_hit)
    steps = record.facts["steps"]
    assert [step["page"] for step in steps] == ["search", "results", "item"]
    assert [step["action"] for step in steps] == list(record.outputs)
    assert all(step["valid"] and len(step["sha256"]) == 16 for step in steps)
    assert record.answer == record.facts["bought"] == items[1].payload["goal"].asin
    assert record.facts["chosen"] == {}
    assert json.loads(json.dumps(record.facts)) == record.facts


def test_a_fault_in_the_shop_is_not_a_zero(items: Sequence[Item]) -> None:
    broken = replace(items[0].payload["goal"], asin="B000000000")
    with pytest.raises(KeyError):
        play(Item("broken", {**items[0].payload, "goal": broken}), first_hit)


def test_metrics_of_mixed_records(items: Sequence[Item]) -> None:
    bought = play(items[1], first_hit)
    lost = play(items[0], lambda _: "hello")
    records = [replace(bought, reward=1.0), replace(bought, reward=0.5), replace(bought, reward=0.49), lost]
    metrics = WebShop().metrics(records)
    assert metrics.score == 50
    assert metrics.extra["standard_error"] == 25
    assert metrics.extra["mean_reward"] == pytest.approx(49.75)
    assert metrics.extra["perfect_percent"] == 25
    assert metrics.extra["bought_percent"] == 75
    assert metrics.extra["mean_steps"] == pytest.approx(59 / 4)
    assert metrics.extra["invalid_action_percent"] == pytest.approx(100 * 50 / 59)


def test_the_runner_loads_and_scores_it(prepared: DataTarget, items: Sequence[Item]) -> None:
    evaluator = load_evaluator(FOLDER, WebShop.protocol)
    spec = RunnerSpec(evaluator.protocol, "", str(prepared.held_out), "", "")
    assert [item.id for item in checked_items(evaluator, spec)] == [item.id for item in items]
    assert checked_metrics(evaluator, play_all(items, first_hit), 100).score == 79
    with pytest.raises(InfraFault):
        load_evaluator(FOLDER, "webshop/1")


def test_task_yaml_agrees(items: Sequence[Item]) -> None:
    about = yaml.safe_load((FOLDER / "task.yaml").read_text(encoding="utf-8"))
    assert (about["protocol"], about["eval_size"], about["horizon"]) == (WebShop.protocol, len(items), MAX_STEPS)
    assert about["level"] == "L3"
