"""Many episodes at a time: one call of `generate` for the prompts of all, then every episode goes on."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

from benchmark.tasks import contract
from benchmark.tasks.contract import Completion, Evaluator, Item, Outcome
from benchmark.tasks.services_contract import ServiceFault


@dataclass(frozen=True)
class Prompt:
    """What the checkpoint reads: `messages` for a chat template, else raw `text`. `stop` strings end what it writes.

    `item` is the id of the item that is played.
    """

    item: str
    text: str
    messages: list[dict[str, str]]
    max_tokens: int
    stop: tuple[str, ...]

    @classmethod
    def of(cls, item: str, asked: contract.Prompt) -> "Prompt":
        messages = [{"role": turn.role, "content": turn.content} for turn in asked.messages]
        return cls(item, asked.text, messages, asked.max_tokens, asked.stop)


Generate = Callable[[list[Prompt]], Sequence[str]]
"""One text for each prompt, in their order."""


@dataclass
class Step:
    """One thing said: the observation, the raw output, what was made of it, and what it earned."""

    prompt: Prompt
    output: str
    action: str = ""
    reward: float = 0.0


@dataclass
class Trajectory:
    """An episode that is over. `reward` is None where a search or a judge failed: then `fault` says how."""

    item: str
    steps: list[Step] = field(default_factory=list)
    reward: float | None = None
    answer: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    fault: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For a line of JSON."""
        return asdict(self)


class _Seat:
    """One episode in play: `prompt` is what it asks now, None when it is over."""

    def __init__(self, evaluator: Evaluator, item: Item) -> None:
        self._episode = evaluator.episode(item)
        self.trajectory = Trajectory(item.id)
        self.prompt: Prompt | None = None

    def begin(self) -> None:
        self._take(None)

    def go_on(self, output: str) -> None:
        if self.prompt is None:
            raise RuntimeError("the episode is over")
        text = _until_stop(output, self.prompt.stop)
        self.trajectory.steps.append(Step(self.prompt, text))
        self._take(Completion(text, tokens=0, finish_reason="stop"))

    def _take(self, completion: Completion | None) -> None:
        try:
            asked = next(self._episode) if completion is None else self._episode.send(completion)
            self.prompt = Prompt.of(self.trajectory.item, asked)
        except StopIteration as end:
            self.prompt = None
            self._finish(end.value)
        except ServiceFault as fault:
            self.prompt = None
            self.trajectory.fault = str(fault)

    def _finish(self, outcome: Outcome) -> None:
        done = self.trajectory
        done.reward, done.answer, done.facts = outcome.reward, outcome.answer, dict(outcome.facts)
        for step, action in zip(done.steps, _actions(done), strict=True):
            step.action = action
        if done.steps:
            done.steps[-1].reward = outcome.reward


def play_episodes(
    evaluator: Evaluator, chosen: Iterable[Item], generate: Generate, *, at_a_time: int
) -> Iterator[Trajectory]:
    """Each episode as it ends; another takes its seat.

    Raises: ValueError: `generate` gave no text, or not one for each prompt. Whatever `generate` raises.
    """
    waiting = iter(chosen)
    seats: list[_Seat] = []
    threads = max(1, min(at_a_time, int(getattr(evaluator, "parallel_steps", 1))))
    with ThreadPoolExecutor(threads, thread_name_prefix="rollout") as pool:
        while True:
            new = [_Seat(evaluator, item) for item in islice(waiting, at_a_time - len(seats))]
            list(pool.map(_Seat.begin, new))
            seats += new
            if not seats:
                return
            playing = [(seat, seat.prompt) for seat in seats if seat.prompt is not None]
            outputs = _checked(generate([prompt for _, prompt in playing]), len(playing)) if playing else []
            list(pool.map(_Seat.go_on, [seat for seat, _ in playing], outputs))
            yield from (seat.trajectory for seat in seats if seat.prompt is None)
            seats = [seat for seat in seats if seat.prompt is not None]


def _checked(outputs: Sequence[str], expected: int) -> Sequence[str]:
    if len(outputs) != expected or not all(isinstance(output, str) for output in outputs):
        raise ValueError(f"generate must return one text for each of the {expected} prompts, in their order")
    return outputs


def _until_stop(text: str, stop: Sequence[str]) -> str:
    cuts = [at for word in stop if (at := text.find(word)) >= 0]
    return text[: min(cuts)] if cuts else text


def _actions(done: Trajectory) -> list[str]:
    """What was made of each output, as far as the task tells: see `Outcome.facts`."""
    told = done.facts.get("steps")
    if isinstance(told, list) and len(told) == len(done.steps):
        return [_action(step) for step in told]
    if len(done.steps) == 1:
        return [done.answer or ""]
    return [step.output.strip() for step in done.steps]


def _action(step: dict[str, Any]) -> str:
    return f"{step['action']}[{step['argument']}]" if "argument" in step else str(step["action"])
