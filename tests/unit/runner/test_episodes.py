"""The driver with an engine that answers in any order: multi-turn episodes, refilling, faults."""

import hashlib
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from benchmark.tasks.contract import Completion, Episode, Item, Metrics, Outcome, Prompt, Record
from grading.runner.engines.protocol import Request
from grading.runner.episodes import EpisodeDriver, first_prompt
from grading.runner.faults import InfraFault
from grading.runner.prompts import ContextLimit, PromptEncoder
from grading.runner.templates import ChatRenderer


class Letters:
    """A tokenizer of single characters without a chat template."""

    bos_token_id = None
    chat_template = None

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        return [ord(c) for c in text]


class Echo:
    """Answers each prompt with its last character doubled, some prompts a step, in random order."""

    sampling: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.waiting: dict[int, Request] = {}
        self.most = 0
        self._rng = random.Random(3)

    def load(self) -> None: ...

    def probe(self, tokens: tuple[int, ...]) -> None: ...

    def versions(self) -> dict[str, str]:
        return {}

    def metrics(self) -> dict[str, float | None]:
        return {}

    def submit(self, key: int, request: Request) -> None:
        assert key not in self.waiting
        self.waiting[key] = request
        self.most = max(self.most, len(self.waiting))

    def step(self) -> list[tuple[int, Completion]]:
        keys = self._rng.sample(sorted(self.waiting), k=self._rng.randint(0, len(self.waiting)))
        return [(key, self._answer(self.waiting.pop(key))) for key in keys]

    def _answer(self, request: Request) -> Completion:
        reason: Any = "length" if request.max_tokens == 1 else "stop"
        return Completion(chr(request.tokens[-1]) * 2, 2, reason)


class Relay:
    """Asks as often as the item says, each time with everything said so far."""

    protocol = "relay/1"

    def items(self, held_out: Path) -> Sequence[Item]:
        return [Item(str(n), {"turns": n % 4}) for n in range(20)]

    def episode(self, item: Item) -> Episode:
        text = f"{item.id}>"
        for _ in range(item.payload["turns"]):
            completion = yield Prompt(max_tokens=3, text=text)
            text += completion.text
        return Outcome(reward=1.0, answer=text)

    def metrics(self, records: Sequence[Record]) -> Metrics:
        return Metrics(100.0)


def driver(engine: Echo, evaluator: Any, *, in_flight: int = 5, context: int = 100) -> EpisodeDriver:
    letters = Letters()
    encoder = PromptEncoder(ChatRenderer(letters), letters, ContextLimit(context, of_checkpoint=False), 2000)
    return EpisodeDriver(engine, encoder, evaluator, in_flight)


def test_every_episode_is_played_to_its_end() -> None:
    engine = Echo()
    records: list[Record] = []
    driver(engine, Relay()).play(Relay().items(Path()), records.append)
    assert sorted(int(r.item_id) for r in records) == list(range(20))
    assert engine.most == 5
    for record in records:
        turns = int(record.item_id) % 4
        assert record.answer == f"{record.item_id}>" + ">>" * turns
        assert (len(record.outputs), record.tokens) == (turns, 2 * turns)


def test_the_prompt_hash_covers_all_prompts_in_order() -> None:
    records: list[Record] = []
    driver(Echo(), Relay()).play([Item("3", {"turns": 3})], records.append)
    assert records[0].prompt_sha256 == hashlib.sha256(b"3>\x003>>>\x003>>>>>").hexdigest()


def test_one_cut_off_completion_marks_the_record() -> None:
    class Short(Relay):
        def episode(self, item: Item) -> Episode:
            yield Prompt(max_tokens=1, text="a")
            yield Prompt(max_tokens=3, text="b")
            return Outcome(0.0)

    records: list[Record] = []
    driver(Echo(), Short()).play([Item("1", {})], records.append)
    assert records[0].finish_reason == "length"


def test_an_episode_that_outgrows_the_context_gets_an_empty_answer_instead_of_a_fault() -> None:
    records: list[Record] = []
    driver(Echo(), Relay(), context=6).play([Item("7", {"turns": 3})], records.append)
    assert records[0].outputs == (">>", ">>", "")
    assert records[0].finish_reason == "length"


def test_a_first_prompt_that_does_not_fit_is_a_fault() -> None:
    with pytest.raises(InfraFault, match="I_CONTEXT"):
        driver(Echo(), Relay(), context=4).play([Item("7", {"turns": 1})], lambda _: None)


def broken(*, after: int, result: Any = None, error: bool = True) -> Any:
    class Broken(Relay):
        def episode(self, item: Item) -> Episode:
            for _ in range(after):
                yield Prompt(max_tokens=3, text="x")
            if error:
                raise KeyError("gold")
            return result  # type: ignore[no-any-return]

    return Broken()


@pytest.mark.parametrize("evaluator", [broken(after=0), broken(after=1), broken(after=1, error=False)])
def test_an_evaluator_that_raises_is_our_fault(evaluator: Any) -> None:
    with pytest.raises(InfraFault) as caught:
        driver(Echo(), evaluator).play([Item("9", {})], lambda _: None)
    assert caught.value.finding.code == "I_EVALUATOR"
    assert "item 9" in caught.value.finding.message


def test_first_prompt() -> None:
    assert first_prompt(Relay(), Item("2", {"turns": 1})).text == "2>"
    with pytest.raises(InfraFault, match="without a prompt"):
        first_prompt(Relay(), Item("2", {"turns": 0}))
