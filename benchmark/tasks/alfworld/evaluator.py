"""Grade `alfworld`: the checkpoint plays 134 unseen household games, at most 50 steps each, and wins them or not."""

import importlib.util
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path

from benchmark.tasks.contract import Episode, Item, Metrics, Outcome, Prompt, Record

from .games import Game, GameRoom
from .playing import MAX_TOKENS, NOTHING, STOP, TASK_TYPES, THOUGHT, introductions, play, task_type

ARCHIVE = "valid_unseen.zip"
TRAIN_ARCHIVE = "train.zip"
FILE = "/game.tw-pddl"


class GamesMissing(Exception):
    """A package that the games need is not installed."""


class Alfworld:
    """Protocol `alfworld/1`: greedy, raw text, one line a step, 100 · games won / 134."""

    protocol = "alfworld/1"
    parallel_steps = 64
    """Each game runs in a process of its own, so this many can be waited for at a time."""

    def __init__(self) -> None:
        self._room = GameRoom()

    def items(self, held_out: Path) -> Sequence[Item]:
        """The unseen games, in the order of their names.

        Raises: GamesMissing: TextWorld or its planner is not installed.
        """
        return _games(held_out, ARCHIVE)

    def train_items(self, visible: Path) -> Sequence[Item]:
        """The training games. Raises: GamesMissing."""
        return _games(visible, TRAIN_ARCHIVE)

    def episode(self, item: Item) -> Episode:
        game = Game(self._room, item.payload["archive"], item.id + FILE)
        try:
            playing = play(game, item.payload["beginning"])
            text = next(playing)
            while True:
                completion = yield Prompt(max_tokens=MAX_TOKENS, text=text, stop=(STOP,))
                try:
                    text = playing.send(completion.text)
                except StopIteration as end:
                    played = end.value
                    break
        finally:
            game.close()
        return Outcome(
            reward=float(played.won),
            answer=played.steps[-1][0],
            facts={
                "type": task_type(item.id),
                "observations": [told for _, told in played.steps],
                "steps": len(played.steps),
                "thoughts": sum(said.startswith(THOUGHT) for said, _ in played.steps),
                "nothing_happens": sum(told == NOTHING for _, told in played.steps),
                "steps_left_out": played.steps_left_out,
                "restarts": game.restarts,
            },
        )

    def metrics(self, records: Sequence[Record]) -> Metrics:
        """Shares in percent. Standard error: 100 · sqrt(p (1 − p) / n), in points; None for a type without games."""
        n = len(records)
        won = sum(record.reward for record in records) / n
        steps = sum(record.facts["steps"] for record in records)
        return Metrics(
            score=100 * won,
            extra={
                "standard_error": 100 * math.sqrt(won * (1 - won) / n),
                **{f"{kind}_percent": _won_percent(records, kind) for kind in TASK_TYPES.values()},
                "mean_steps": steps / n,
                "nothing_happens_percent": 100 * sum(record.facts["nothing_happens"] for record in records) / steps,
                "thought_percent": 100 * sum(record.facts["thoughts"] for record in records) / steps,
                "shortened_prompts_percent": 100 * sum(r.facts["steps_left_out"] > 0 for r in records) / n,
            },
        )


def _games(folder: Path, archive: str) -> list[Item]:
    for package in ("textworld", "fast_downward"):
        if importlib.util.find_spec(package) is None:
            raise GamesMissing(f"{package} is not installed; benchmark/tasks/alfworld/requirements.txt names it")
    beginnings = introductions(folder / "examples.json")
    with zipfile.ZipFile(folder / archive) as games:
        names = sorted(games.namelist())
    return [
        Item(name.removesuffix(FILE), {"archive": str(folder / archive), "beginning": beginnings[task_type(name)]})
        for name in names
    ]


def _won_percent(records: Sequence[Record], kind: str) -> float | None:
    rewards = [record.reward for record in records if record.facts["type"] == kind]
    return 100 * sum(rewards) / len(rewards) if rewards else None


def evaluator() -> Alfworld:
    return Alfworld()
