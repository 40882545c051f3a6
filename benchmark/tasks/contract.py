"""What a benchmark task is to the grading runner: items, episodes and one score.

This module and every task's `evaluator.py` run inside the grading sandbox: standard library and the task's own
declared packages only, no Django, no GPU library. An episode is a generator: it yields a `Prompt` whenever it wants
the checkpoint to speak, is sent the `Completion`, and returns an `Outcome`. A single-turn task yields once; an
interactive one yields once a step. The runner advances many episodes at a time and batches their prompts.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant"]
FinishReason = Literal["stop", "length"]


@dataclass(frozen=True)
class Turn:
    """One chat message."""

    role: Role
    content: str


@dataclass(frozen=True)
class Prompt:
    """One request for a greedy completion: chat `messages` (rendered with the grader's template) or raw `text`.

    Exactly one of the two is given. `stop` strings end the completion and are not part of it.
    """

    max_tokens: int
    messages: tuple[Turn, ...] = ()
    text: str = ""
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.messages) == bool(self.text):
            raise ValueError("a prompt has either messages or text")


@dataclass(frozen=True)
class Completion:
    """What the checkpoint answered: decoded text without special tokens, its length in tokens, why it ended."""

    text: str
    tokens: int
    finish_reason: FinishReason


@dataclass(frozen=True)
class Item:
    """One held-out sample: a stable id and what the task needs to play it."""

    id: str
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """How one episode ended. `reward` is in 0..1; `facts` are JSON values kept in the sample's record.

    Where `facts` has a list `steps` with one mapping a prompt, its `action` (and `argument`) say what was made of the
    completion; agents' trajectories show it.
    """

    reward: float
    answer: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Flag:
    """Something in the outputs that people must see beside the score: W_* is odd, F_* looks like gaming the grader."""

    code: str
    message: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Metrics:
    """The protocol's primary `score` in 0..100 and the numbers reported beside it (floats or None)."""

    score: float
    extra: Mapping[str, float | None] = field(default_factory=dict)
    flags: tuple[Flag, ...] = ()


Episode = Generator[Prompt, Completion, Outcome]


class Evaluator(Protocol):
    """A task's evaluator. `evaluator.py` of the task folder defines `def evaluator() -> Evaluator`."""

    protocol: str
    """Id and version, such as `gsm8k/1`; must equal the one in `task.yaml`."""

    def items(self, held_out: Path) -> Sequence[Item]:
        """Every held-out sample, in the protocol's order, read from the task's held-out folder."""
        ...

    def episode(self, item: Item) -> Episode:
        """Play one item. An exception is the grader's fault, never a zero."""
        ...

    def metrics(self, records: Sequence["Record"]) -> Metrics:
        """One score from all records, in the order of `items`."""
        ...


class ParallelEvaluator(Evaluator, Protocol):
    """An evaluator whose episodes wait for other processes, such as games, rather than compute in this one."""

    parallel_steps: int
    """How many episodes may be advanced at the same time, each by one thread at a time. 1 where there is no such
    attribute: one after the other, in the runner's own thread."""


class TrainEvaluator(Evaluator, Protocol):
    """An evaluator that also plays the visible items: what `rollouts` in the task's task.yaml offers to agents."""

    def train_items(self, visible: Path) -> Sequence[Item]:
        """Every visible item, always in the same order, read from the task's visible folder."""
        ...


@dataclass(frozen=True)
class Record:
    """One played sample, as written to `samples.jsonl`."""

    item_id: str
    prompt_sha256: str
    """Of the rendered prompts, in order, joined by a NUL byte."""
    outputs: tuple[str, ...]
    answer: str | None
    reward: float
    tokens: int
    finish_reason: FinishReason
    """Of the last completion; `length` when any was cut off."""
    facts: Mapping[str, Any] = field(default_factory=dict)
