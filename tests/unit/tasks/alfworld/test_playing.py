"""The loop of a game: what the checkpoint reads and how steps are counted. Games here are scripted."""

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest

from benchmark.tasks.alfworld import playing
from benchmark.tasks.alfworld.playing import LEFT_OUT, MAX_CHARACTERS, MAX_STEPS, Played, introductions, play, prompt

EXAMPLES = Path(playing.__file__).with_name("examples.json")


@dataclass(frozen=True)
class Told:
    observation: str
    won: bool = False


@dataclass
class ShortGame:
    """Won by `use desklamp 1`; every other command is answered with `answer`."""

    answer: str = "Nothing happens."
    commands: list[str] = field(default_factory=list)

    def start(self) -> str:
        return "You are in a room.\n\nYour task is to: look."

    def act(self, command: str) -> Told:
        self.commands.append(command)
        return Told("You turn on the desklamp 1.", won=True) if command == "use desklamp 1" else Told(self.answer)


def finish(game: ShortGame, lines: list[str]) -> tuple[list[str], Played]:
    """The prompts of a game played with these lines, the last one said again and again."""
    steps = play(game, "BEGINNING\n")
    prompts = [next(steps)]
    while True:
        try:
            prompts.append(steps.send(lines[min(len(prompts), len(lines)) - 1]))
        except StopIteration as end:
            return prompts, end.value


def test_prompt_holds_opening_and_every_step() -> None:
    prompts, played = finish(ShortGame(), [" look ", "use desklamp 1"])
    opening = "BEGINNING\n\nYou are in a room.\n\nYour task is to: look.\n"
    assert prompts == [opening + ">", opening + "> look\nNothing happens.\n>"]
    assert played.won
    assert played.steps == [("look", "Nothing happens."), ("use desklamp 1", "You turn on the desklamp 1.")]


def test_thoughts_are_answered_without_the_game_and_cost_a_step() -> None:
    game = ShortGame()
    _, played = finish(game, ["think: where is it?", "use desklamp 1"])
    assert played.steps[0] == ("think: where is it?", "OK.")
    assert game.commands == ["use desklamp 1"]
    _, thinker = finish(ShortGame(), ["think: hm"])
    assert (len(thinker.steps), thinker.won) == (MAX_STEPS, False)


def test_no_51st_step() -> None:
    game = ShortGame()
    prompts, played = finish(game, [*["look"] * MAX_STEPS, "use desklamp 1"])
    assert len(prompts) == len(played.steps) == len(game.commands) == MAX_STEPS == 50
    assert not played.won


def test_win_in_the_50th_step_counts() -> None:
    assert finish(ShortGame(), [*["look"] * (MAX_STEPS - 1), "use desklamp 1"])[1].won


def test_silence_is_a_step() -> None:
    game = ShortGame()
    assert finish(game, [""])[1].steps[0] == ("", "Nothing happens.")
    assert game.commands[0] == ""


def test_oldest_steps_go_first_and_seldom() -> None:
    prompts, played = finish(ShortGame(answer="You see a mug. " * 80), ["look 1", "look 2", "look 3", "look"])
    assert all(len(text) <= MAX_CHARACTERS for text in prompts)
    shortened = [text for text in prompts if LEFT_OUT in text]
    assert "> look 1\n" not in shortened[0]
    assert all(text.startswith("BEGINNING\n\nYou are in a room.") for text in prompts)
    starts = {text[: text.index("You see a mug")] + str(text.count("You see a mug") > 0) for text in shortened}
    assert len(starts) == 1
    kept = [text.count("> look") for text in prompts]
    falls = sum(after < before for before, after in pairwise(kept))
    assert 0 < falls < len(shortened) / 2
    assert played.steps_left_out > 0


def test_one_step_larger_than_all_room_is_left_out() -> None:
    played = Played("opening", [("look", "x" * (MAX_CHARACTERS + 1))])
    assert prompt("", played) == f"\nopening\n{LEFT_OUT}\n>"


def test_introductions_are_two_examples_of_the_type_and_fit() -> None:
    texts = introductions(EXAMPLES)
    assert sorted(texts) == sorted(playing.TASK_TYPES.values())
    for text in texts.values():
        assert text.count("Your task is to:") == 2
        assert len(text) < MAX_CHARACTERS / 3


def test_examples_write_move_and_think() -> None:
    for text in introductions(EXAMPLES).values():
        said = [line[2:] for line in text.splitlines() if line.startswith("> ")]
        assert any(line.startswith("think:") for line in said)
        assert not any(line.startswith("put ") for line in said)
        assert "Nothing happens." not in text


def test_unknown_type_is_an_error() -> None:
    with pytest.raises(KeyError):
        playing.task_type("stack_and_place-Mug-None-Desk-1/trial_T1")
