"""Play household games with a model, many at a time; or record the stored walkthroughs (see README.md)."""

import argparse
import json
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from alfworld_games.games import Game, GameRoom  # noqa: E402
from alfworld_games.playing import Played, introductions, play, task_type  # noqa: E402

Speak = Callable[[list[str]], list[str]]
"""Completions for prompts, in their order; each ends before the first newline."""


class _Seat:
    """One game in play: `advance` takes what the model said and leaves the next prompt, or None at the end."""

    def __init__(self, room: GameRoom, archive: str | Path, name: str, introduction: str) -> None:
        self.name = name
        self._game = Game(room, archive, name)
        self._steps = play(self._game, introduction)
        self.prompt: str | None = None
        self.played: Played | None = None

    def advance(self, said: str | None) -> None:
        try:
            self.prompt = next(self._steps) if said is None else self._steps.send(said)
        except StopIteration as end:
            self.prompt, self.played = None, end.value
            self._game.close()


def rollouts(
    archive: str | Path, names: Sequence[str], speak: Speak, *, at_a_time: int = 16
) -> Iterator[dict[str, Any]]:
    """Play the named games of a zip file; yields each as it ends, a new one takes its seat."""
    room = GameRoom()
    texts = introductions(HERE / "examples.json")
    waiting = iter(names)
    seats: list[_Seat] = []
    try:
        with ThreadPoolExecutor(at_a_time) as threads:
            while True:
                new = [
                    _Seat(room, archive, name, texts[task_type(name)])
                    for name in islice(waiting, at_a_time - len(seats))
                ]
                list(threads.map(lambda seat: seat.advance(None), new))
                seats += new
                if not seats:
                    return
                said = speak([seat.prompt or "" for seat in seats])
                list(threads.map(_Seat.advance, seats, said))
                yield from (trajectory(seat) for seat in seats if seat.played)
                seats = [seat for seat in seats if not seat.played]
    finally:
        room.close()


def trajectory(seat: _Seat) -> dict[str, Any]:
    """A finished game as JSON."""
    if seat.played is None:
        raise ValueError(f"{seat.name} is not over")
    return {"game": seat.name, "opening": seat.played.opening, "steps": seat.played.steps, "won": seat.played.won}


def walkthroughs(archive: str | Path, count: int) -> Iterator[dict[str, Any]]:
    """The first `count` games, each won by its stored commands."""
    room = GameRoom()
    with zipfile.ZipFile(archive) as games:
        for name in sorted(games.namelist())[:count]:
            game = Game(room, archive, name)
            played = Played(game.start())
            for command in json.loads(games.read(name))["walkthrough"]:
                reply = game.act(command)
                played.steps.append((command, reply.observation))
                played.won = reply.won
            game.close()
            yield {"game": name, "opening": played.opening, "steps": played.steps, "won": played.won}
    room.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, default=HERE / "train.zip")
    parser.add_argument("--walkthroughs", type=int, default=5, metavar="N", help="how many games (default 5)")
    asked = parser.parse_args()
    for played in walkthroughs(asked.archive, asked.walkthroughs):
        sys.stdout.write(json.dumps(played) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
