"""Playing many episodes at once: their prompts share the engine, and a new episode starts whenever one ends."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from benchmark.tasks.contract import Completion, Episode, Evaluator, FinishReason, Item, Outcome, Prompt, Record
from benchmark.tasks.services_contract import ServiceFault
from grading.runner.advancing import Advancing, Asked, Step, advancing
from grading.runner.engines.protocol import Engine
from grading.runner.faults import GradingFault, InfraFault, first_line
from grading.runner.hearing import heard
from grading.runner.prompts import Encoder


@dataclass
class _Playing:
    item: Item
    episode: Episode
    prompts: list[str] = field(default_factory=list)
    completions: list[Completion] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    """For the record."""
    max_tokens: int = 0
    """Of the last prompt."""

    def advance(self, completion: Completion | None) -> Prompt | Outcome:
        """The next prompt, or how it ended. Raises: InfraFault: the evaluator raised."""
        try:
            if completion is None:
                return next(self.episode)
            spoken, recorded = heard(completion, self.max_tokens)
            self.completions.append(spoken)
            self.outputs.append(recorded)
            return self.episode.send(spoken)
        except StopIteration as end:
            if isinstance(end.value, Outcome):
                return end.value
            raise InfraFault("I_EVALUATOR", f"item {self.item.id}: the episode returned no Outcome") from end
        except GradingFault:
            raise
        except ServiceFault as error:
            raise InfraFault("I_PROVIDER", f"item {self.item.id}: {error}") from error
        except Exception as error:
            raise InfraFault("I_EVALUATOR", f"item {self.item.id}: {first_line(error)}") from error

    def record(self, outcome: Outcome) -> Record:
        reason: FinishReason = "length" if any(c.finish_reason == "length" for c in self.completions) else "stop"
        return Record(
            item_id=self.item.id,
            prompt_sha256=hashlib.sha256("\0".join(self.prompts).encode()).hexdigest(),
            outputs=tuple(self.outputs),
            answer=outcome.answer,
            reward=outcome.reward,
            tokens=sum(c.tokens for c in self.completions),
            finish_reason=reason,
            facts=dict(outcome.facts),
        )


def first_prompt(evaluator: Evaluator, item: Item) -> Prompt:
    """What an item's episode asks first. Raises: InfraFault: I_EVALUATOR, it raised or asks nothing."""
    playing = _Playing(item, evaluator.episode(item))
    step = playing.advance(None)
    playing.episode.close()
    if isinstance(step, Outcome):
        raise InfraFault("I_EVALUATOR", f"item {item.id}: the episode ended without a prompt")
    return step


class EpisodeDriver:
    """Plays items on an engine, at most `in_flight` episodes at a time."""

    def __init__(self, engine: Engine, encoder: Encoder, evaluator: Evaluator, in_flight: int) -> None:
        self._engine = engine
        self._encoder = encoder
        self._evaluator = evaluator
        self._in_flight = in_flight
        self._playing: dict[int, _Playing] = {}
        self._ahead: deque[int] = deque()
        """Those of them that wait for their turn, in order."""
        self._started = 0
        self._asked = 0
        """Requests that the engine has not completed yet."""

    def play(self, items: Iterable[Item], record: Callable[[Record], None]) -> None:
        """Play every item and hand each record over as its episode ends. Raises: GradingFault."""
        waiting = iter(items)
        with advancing(self._evaluator) as episodes:
            self._refill(waiting, episodes)
            while self._playing:
                while arrived := episodes.arrived(idle=not self._asked):
                    self._take(*arrived, episodes, record)
                    self._refill(waiting, episodes)
                if self._asked:
                    for key, completion in self._engine.step():
                        self._asked -= 1
                        self._continue(key, completion, episodes)

    def _refill(self, waiting: Iterator[Item], episodes: Advancing) -> None:
        """Give free places to the next episodes. As many more have begun where their prompts can be made ahead."""
        begun = 2 * self._in_flight if episodes.looks_ahead else self._in_flight
        while len(self._playing) < begun and (item := next(waiting, None)) is not None:
            key, self._started = self._started, self._started + 1
            self._playing[key] = _Playing(item, self._evaluator.episode(item))
            self._begin(key, None, episodes)
            self._ahead.append(key)
        while self._ahead and len(self._playing) - len(self._ahead) < self._in_flight:
            episodes.due(self._ahead.popleft())

    def _continue(self, key: int, completion: Completion, episodes: Advancing) -> None:
        """Set out to advance one episode whose turn it is."""
        self._begin(key, completion, episodes)
        episodes.due(key)

    def _begin(self, key: int, completion: Completion | None, episodes: Advancing) -> None:
        playing = self._playing[key]
        encode = partial(self._encoded, first=not playing.prompts)
        episodes.begin(key, partial(playing.advance, completion), encode)

    def _encoded(self, prompt: Prompt, *, first: bool) -> Asked:
        text, request = self._encoder.encode(prompt, first=first)
        return Asked(prompt, text, request)

    def _take(self, key: int, step: Step, episodes: Advancing, record: Callable[[Record], None]) -> None:
        """An episode has ended, or asks something."""
        playing = self._playing[key]
        if isinstance(step, Outcome):
            del self._playing[key]
            record(playing.record(step))
            return
        playing.prompts.append(step.text)
        playing.max_tokens = step.prompt.max_tokens
        if step.request is None:
            self._continue(key, Completion(text="", tokens=0, finish_reason="length"), episodes)
            return
        self._engine.submit(key, step.request)
        self._asked += 1
