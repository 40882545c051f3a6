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
        time.sleep(WAIT_S)
        with self._lock:
            self.now -= 1

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


def test_waits_overlap_and_no_more_than_allowed() -> None:
    evaluator = Waiting(4)
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
    assert threading.active_count() == before
