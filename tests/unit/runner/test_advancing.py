"""Episodes that wait for other processes: advanced many at a time, recorded once each, the batch kept full."""

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmark.tasks.contract import Completion, Episode, Item, Metrics, Outcome, Prompt, Record
from grading.runner.engines.protocol import Request
from grading.runner.episodes import EpisodeDriver
from grading.runner.faults import InfraFault
from grading.runner.prompts import ContextLimit, PromptEncoder
from grading.runner.templates import ChatRenderer
from tests.support.waiting import LONG_S, until

WAIT_S = 0.05


class Letters:
    """A tokenizer of one token a character."""

    bos_token_id = None

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        return [ord(letter) for letter in text]


class EchoEngine:
    """Completes everything queued, in one step, with its prompt's last character."""

    sampling: Mapping[str, Any] = {}

    def __init__(self) -> None:
        self.batches: list[int] = []
        self._queued: list[tuple[int, Request]] = []

    def load(self) -> None: ...

    def probe(self, tokens: tuple[int, ...]) -> None: ...

    def submit(self, key: int, request: Request) -> None:
        self._queued.append((key, request))

    def step(self) -> list[tuple[int, Completion]]:
        queued, self._queued = self._queued, []
        self.batches.append(len(queued))
        return [(key, Completion(chr(request.tokens[-1]), 1, "stop")) for key, request in queued]

    def versions(self) -> dict[str, str]:
        return {}

    def metrics(self) -> dict[str, float | None]:
        return {}


class Waiting:
    """Three prompts an episode, each after a wait; item 5 of a `broken` one raises in its second step."""

    protocol = "waiting/1"

    def __init__(self, threads: int, broken: bool = False) -> None:
        self.parallel_steps = threads
        self.broken = broken
        self.now = self.most = 0
        self._lock = threading.Lock()

    def items(self, held_out: Path) -> Sequence[Item]:
        return [Item(str(n), {}) for n in range(12)]

    def wait(self) -> None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.rest()
        with self._lock:
            self.now -= 1

    def rest(self) -> None:
        time.sleep(WAIT_S)

    def episode(self, item: Item) -> Episode:
        said = ""
        for turn in "abc":
            self.wait()
            if self.broken and item.id == "5" and turn == "b":
                raise OSError("the game is gone")
            completion = yield Prompt(max_tokens=1, text=f"{item.id}{turn}")
            said += completion.text
        return Outcome(1.0, answer=said)

    def metrics(self, records: Sequence[Record]) -> Metrics:
        return Metrics(100.0)


def play(evaluator: Waiting, in_flight: int = 6) -> tuple[list[Record], EchoEngine]:
    engine = EchoEngine()
    renderer = ChatRenderer(object())
    driver = EpisodeDriver(
        engine, PromptEncoder(renderer, Letters(), ContextLimit(100, False), 256), evaluator, in_flight
    )
    records: list[Record] = []
    driver.play(evaluator.items(Path()), records.append)
    return records, engine


@pytest.mark.parametrize("threads", [1, 6])
def test_every_item_is_played_once(threads: int) -> None:
    records, _ = play(Waiting(threads))
    assert sorted(int(record.item_id) for record in records) == list(range(12))
    assert {record.answer for record in records} == {"abc"}


class Meeting(Waiting):
    """Waits until as many as are allowed have waited at the same time, and a little for one more."""

    def rest(self) -> None:
        until(lambda: self.most >= self.parallel_steps, "as many as are allowed wait")
        super().rest()


def test_waits_overlap_and_no_more_than_allowed() -> None:
    evaluator = Meeting(4)
    play(evaluator)
    assert evaluator.most == 4


def test_idle_engine_waits_for_a_full_batch() -> None:
    _, engine = play(Waiting(6))
    assert engine.batches[0] == 6
    assert sum(engine.batches) == 36
    assert len(engine.batches) < 12


@pytest.mark.parametrize("threads", [1, 6])
def test_an_episode_that_raises_is_ours_and_ends_the_run(threads: int) -> None:
    before = threading.active_count()
    with pytest.raises(InfraFault, match=r"item 5.*the game is gone"):
        play(Waiting(threads, broken=True))
    # Of an earlier test a thread may have ended meanwhile.
    until(lambda: threading.active_count() <= before, "its threads have ended")


class Counted(Waiting):
    """One prompt an episode, no waits; knows which episodes have begun."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.begun: list[str] = []

    def episode(self, item: Item) -> Episode:
        self.begun.append(item.id)
        completion = yield Prompt(max_tokens=1, text=f"{item.id}a")
        return Outcome(1.0, answer=completion.text)


class SlowLetters(Letters):
    """Takes its time, longest over the first prompts; `encoded` names those that are done."""

    def __init__(self) -> None:
        self.encoded: set[str] = set()
        self.changed = threading.Condition()

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        time.sleep(0.02 / (1 + int(text[:-1])))
        with self.changed:
            self.encoded.add(text)
            self.changed.notify_all()
        return super().encode(text, add_special_tokens)


class OrderedEngine(EchoEngine):
    """Notes in which order and in which step prompts come; may wait in its first step for prompts to be encoded."""

    def __init__(self, letters: SlowLetters, wait_for: set[str]) -> None:
        super().__init__()
        self.letters, self.wait_for = letters, wait_for
        self.came: list[tuple[int, str]] = []

    def submit(self, key: int, request: Request) -> None:
        self.came.append((len(self.batches), "".join(map(chr, request.tokens))))
        super().submit(key, request)

    def step(self) -> list[tuple[int, Completion]]:
        with self.letters.changed:
            assert self.letters.changed.wait_for(lambda: self.wait_for <= self.letters.encoded, LONG_S)
        return super().step()


def play_counted(threads: int, wait_for: set[str]) -> tuple[Counted, OrderedEngine]:
    evaluator, letters = Counted(threads), SlowLetters()
    engine = OrderedEngine(letters, wait_for)
    encoder = PromptEncoder(ChatRenderer(object()), letters, ContextLimit(100, False), 256)
    EpisodeDriver(engine, encoder, evaluator, 4).play(evaluator.items(Path()), lambda _: None)
    return evaluator, engine


def test_the_next_prompts_are_encoded_while_the_engine_computes() -> None:
    """The first step ends only when the prompts that follow its own have been encoded."""
    evaluator, engine = play_counted(1, wait_for={f"{n}a" for n in range(8)})
    assert engine.batches == [4, 4, 4]
    assert len(evaluator.begun) == 12


def test_what_reaches_the_engine_does_not_depend_on_time() -> None:
    _, engine = play_counted(1, wait_for=set())
    assert engine.came == [(n // 4, f"{n}a") for n in range(12)]


def test_episodes_with_processes_of_their_own_do_not_begin_before_their_turn() -> None:
    class Watching(OrderedEngine):
        most = 0

        def step(self) -> list[tuple[int, Completion]]:
            done = super().step()
            self.most = max(self.most, len(evaluator.begun) - sum(self.batches[:-1]))
            return done

    evaluator, letters = Counted(4), SlowLetters()
    engine = Watching(letters, set())
    encoder = PromptEncoder(ChatRenderer(object()), letters, ContextLimit(100, False), 256)
    EpisodeDriver(engine, encoder, evaluator, 4).play(evaluator.items(Path()), lambda _: None)
    assert 0 < engine.most <= 4
