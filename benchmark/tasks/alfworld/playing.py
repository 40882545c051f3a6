"""One game as the checkpoint plays it: what it reads, what its words do, and when it is over."""

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

MAX_STEPS = 50
MAX_TOKENS = 100
STOP = "\n"
MAX_CHARACTERS = 16_000
"""Most characters of a prompt. Beyond it the oldest steps are left out; examples and opening always stay."""
KEPT_CHARACTERS = 12_000
"""Down to this: leaving out many steps seldom, rather than one each time, keeps the start of most prompts the same."""
THOUGHT = "think:"
THOUGHT_ANSWER = "OK."
NOTHING = "Nothing happens."
BEGINNING = "You act in a household by text commands, one a line, to fulfil a task. Two finished tasks show how.\n"
LEFT_OUT = "(earlier steps are left out)"
TASK_TYPES = {
    "pick_and_place_simple": "pick_and_place",
    "pick_clean_then_place_in_recep": "pick_clean_then_place",
    "pick_heat_then_place_in_recep": "pick_heat_then_place",
    "pick_cool_then_place_in_recep": "pick_cool_then_place",
    "look_at_obj_in_light": "look_at_obj",
    "pick_two_obj_and_place": "pick_two_obj",
}
"""The first part of a game's name, and what the type is called here."""


class Reply(Protocol):
    """What a command brought about."""

    @property
    def observation(self) -> str: ...

    @property
    def won(self) -> bool: ...


class Game(Protocol):
    """A game that can be started once and then acted in; `games.Game` is one."""

    def start(self) -> str: ...

    def act(self, command: str) -> Reply: ...


@dataclass
class Played:
    """A game that is over, or as far as it has come."""

    opening: str
    steps: list[tuple[str, str]] = field(default_factory=list)
    """(what the checkpoint said, what it was told), in order."""
    won: bool = False
    steps_left_out: int = 0
    """Steps that the last prompt no longer showed."""


def task_type(game: str) -> str:
    """The type of the game with that name. Raises: KeyError: it has none of the six."""
    return TASK_TYPES[game.partition("-")[0]]


def example_text(example: Mapping[str, object]) -> str:
    """An example of `examples.json` as the checkpoint reads it."""
    steps = example["steps"]
    if not isinstance(steps, Sequence):
        raise TypeError("an example's steps must be a list")
    return f"{example['opening']}\n" + "".join(step_text(said, told) for said, told in steps)


def step_text(said: str, told: str) -> str:
    return f"> {said}\n{told}\n"


def introductions(examples: Path) -> dict[str, str]:
    """By task type, what every prompt begins with: two worked examples of that type, read from `examples.json`."""
    by_type: dict[str, list[str]] = {}
    for example in json.loads(examples.read_text(encoding="utf-8")):
        by_type.setdefault(task_type(example["game"]), []).append(example_text(example))
    return {kind: "\n".join([BEGINNING, *texts, "Now your task.\n"]) for kind, texts in by_type.items()}


def play(game: Game, introduction: str) -> Generator[str, str, Played]:
    """Yields the text of each prompt and is sent what the checkpoint said; returns how the game went.

    A line that begins with `think:` is answered `OK.` and changes nothing; like any other it is one of the 50 steps.
    """
    played = Played(game.start())
    while len(played.steps) < MAX_STEPS and not played.won:
        said = (yield prompt(introduction, played)).strip()
        if said.startswith(THOUGHT):
            told = THOUGHT_ANSWER
        else:
            reply = game.act(said)
            told, played.won = reply.observation, reply.won
        played.steps.append((said, told))
    return played


def prompt(introduction: str, played: Played) -> str:
    """The text that the checkpoint continues, at most MAX_CHARACTERS long where the introduction leaves that room."""
    while True:
        steps = [step_text(said, told) for said, told in played.steps[played.steps_left_out :]]
        gap = [LEFT_OUT + "\n"] if played.steps_left_out else []
        text = "".join([introduction, "\n", played.opening, "\n", *gap, *steps, ">"])
        if len(text) <= MAX_CHARACTERS or not steps:
            return text
        played.steps_left_out += _surplus(steps, len(text) - KEPT_CHARACTERS)


def _surplus(steps: Sequence[str], characters: int) -> int:
    """How many of the first steps make up so many characters; at least one, and all of them where they are fewer."""
    count = 0
    while count < len(steps) and characters > 0:
        characters -= len(steps[count])
        count += 1
    return count
