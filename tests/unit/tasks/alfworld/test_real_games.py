"""ALFWorld's own games, played in real processes through the task's code."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchmark.tasks.alfworld.evaluator import FILE, Alfworld
from benchmark.tasks.alfworld.games import Game, GameRoom
from benchmark.tasks.alfworld.playing import MAX_TOKENS, NOTHING, task_type
from benchmark.tasks.contract import Completion, Item, Outcome, Prompt
from tests.unit.tasks.alfworld.conftest import RealGames, example_steps

EXAMPLES = example_steps()


def by_walkthrough(task: Alfworld, item: Item, commands: list[str]) -> tuple[list[Prompt], Outcome]:
    """Play an item with these completions; `look` when they are used up."""
    episode = task.episode(item)
    prompts = [next(episode)]
    while True:
        said = commands[len(prompts) - 1] if len(prompts) <= len(commands) else "look"
        try:
            prompts.append(episode.send(Completion(f" {said}", 5, "stop")))
        except StopIteration as end:
            return prompts, end.value


def items_of(real_games: RealGames) -> tuple[Alfworld, list[Item]]:
    task = Alfworld()
    return task, list(task.items(real_games.held_out))


def test_counts_and_types(real_games: RealGames) -> None:
    assert {split: len(names) for split, names in real_games.names.items()} == {
        "train": 3553,
        "valid_seen": 140,
        "valid_unseen": 134,
    }
    assert Counter(map(task_type, real_games.names["valid_unseen"])) == {
        "pick_and_place": 24,
        "pick_clean_then_place": 31,
        "pick_heat_then_place": 23,
        "pick_cool_then_place": 21,
        "look_at_obj": 18,
        "pick_two_obj": 17,
    }


def test_every_game_is_solvable(real_games: RealGames) -> None:
    assert real_games.unsolvable == []


def test_the_references_examples_put_what_these_games_only_move(shared_data: Path) -> None:
    """Why the examples here are our own: none of ReAct's prompts shows a command by which these games are won."""
    prompts = json.loads((shared_data / "alfworld" / "react_prompts.json").read_text(encoding="utf-8"))
    react = {name: text for name, text in prompts.items() if name.startswith("react_")}
    assert len(react) == 18
    assert not [name for name, text in prompts.items() if "> move " in text]
    assert {name for name, text in react.items() if "> put " not in text} == {f"react_examine_{n}" for n in range(3)}


def test_walkthrough_lengths(real_games: RealGames) -> None:
    lengths = [len(commands) for commands in real_games.walkthroughs.values()]
    assert max(lengths) == 9
    assert sum(lengths) / len(lengths) == pytest.approx(5.88, abs=0.005)


def test_items_are_in_the_order_of_names(real_games: RealGames, room: GameRoom) -> None:
    _, items = items_of(real_games)
    assert [item.id for item in items] == sorted(real_games.names["valid_unseen"])


def test_walkthroughs_of_every_type_win(real_games: RealGames, room: GameRoom) -> None:
    task, items = items_of(real_games)
    first = {task_type(item.id): item for item in reversed(items)}
    for item in first.values():
        commands = real_games.walkthroughs[item.id]
        prompts, outcome = by_walkthrough(task, item, commands)
        assert outcome.reward == 1
        assert outcome.answer == commands[-1]
        assert outcome.facts["steps"] == len(commands) == len(prompts)
        assert prompts[0].text.endswith(".\n>")
        assert (prompts[0].max_tokens, prompts[0].stop) == (MAX_TOKENS, ("\n",))
        assert prompts[-1].text.endswith(f"> {commands[-2]}\n{outcome.facts['observations'][-2]}\n>")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_walkthroughs_win(real_games: RealGames) -> None:
    task, items = items_of(real_games)

    def reward(item: Item) -> float:
        return by_walkthrough(task, item, real_games.walkthroughs[item.id])[1].reward

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(reward, items)) == [1.0] * 134


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_put_never_does_anything(real_games: RealGames, room: GameRoom) -> None:
    """In every fifth game; each is played again for it."""
    _, items = items_of(real_games)
    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(lambda item: put_attempts(room, real_games, item.id), items[::5]))
    assert {observation for attempts in told for _, observation in attempts} == {NOTHING}


def put_attempts(room: GameRoom, real_games: RealGames, name: str) -> list[tuple[str, str]]:
    """Play a walkthrough; before each `move X to Y`, try `put X in/on Y`, `put X in Y` and `put X on Y`."""
    game = Game(room, real_games.held_out / "valid_unseen.zip", name + FILE)
    game.start()
    tried = []
    for command in real_games.walkthroughs[name]:
        if command.startswith("move "):
            thing, place = command.removeprefix("move ").split(" to ")
            attempts = [f"put {thing} {word} {place}" for word in ("in/on", "in", "on")]
            tried += [(attempt, game.act(attempt).observation) for attempt in attempts]
        game.act(command)
    game.close()
    return tried


def test_put_does_nothing_and_move_wins(real_games: RealGames, room: GameRoom) -> None:
    name = "pick_and_place_simple-Mug-None-Desk-308/trial_T20190909_210238_431966"
    assert [told for _, told in put_attempts(room, real_games, name)] == [NOTHING] * 3
    game = Game(room, real_games.held_out / "valid_unseen.zip", name + FILE)
    game.start()
    replies = [game.act(command) for command in real_games.walkthroughs[name]]
    game.close()
    assert real_games.walkthroughs[name][-1].startswith("move mug")
    assert replies[-1].observation.startswith("You move the mug")
    assert [reply.won for reply in replies] == [False] * (len(replies) - 1) + [True]


def test_looking_around_for_50_steps_earns_nothing(real_games: RealGames, room: GameRoom) -> None:
    task, items = items_of(real_games)
    prompts, outcome = by_walkthrough(task, items[0], [*["fly"] * 10, *["think: where?"] * 5])
    assert outcome.reward == 0
    assert len(prompts) == outcome.facts["steps"] == 50
    assert (outcome.facts["nothing_happens"], outcome.facts["thoughts"]) == (10, 5)


@pytest.mark.parametrize(
    "example",
    [pytest.param(e, marks=[] if at % 6 == 0 else pytest.mark.slow) for at, e in enumerate(EXAMPLES)],
    ids=[e["game"].partition("/")[0] for e in EXAMPLES],
)
def test_examples_are_what_the_games_say(example: dict[str, Any], real_games: RealGames, room: GameRoom) -> None:
    game = Game(room, real_games.train, f"{example['game']}{FILE}")
    assert game.start() == example["opening"]
    won = False
    for said, told in example["steps"]:
        assert not won
        if not said.startswith("think:"):
            reply = game.act(said)
            assert (said, reply.observation) == (said, told)
            won = reply.won
    assert won
    game.close()


def test_examples_are_training_games(real_games: RealGames) -> None:
    shown = {str(example["game"]) for example in EXAMPLES}
    assert len(shown) == 12
    assert shown <= set(real_games.names["train"])
