"""Household games in a process of their own: one request after another, one JSON answer each.

`python household.py FD` serves on the socket with that descriptor until it is closed. It is a separate program because
TextWorld computes under Python's global lock, changes global state while it loads a game, and calls a planner in C that
may crash.

Needs the packages in requirements.txt and nothing else of this repository.
"""

import json
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from multiprocessing.connection import Connection
from typing import Any

from textworld.envs.pddl import PddlEnv, logic, textgen
from textworld.logic import Rule

SEPARATOR = "_bar_"


def quicken() -> None:
    """Have TextWorld 1.7.0 compute once what it computes again at every step and at every start of a game.

    Parsed grammar fragments and conjunctive queries are only read after they are made, and so is a translated game.
    It translates each game twice when loaded and twice when reset; every second translation is for planning, which
    nothing here does. Measured over seven games: 3.9 → 1.1 s of processor time a start, 214 → 56 ms a command.
    """
    textgen._PARSER.parse = cache(textgen._PARSER.parse)
    Rule.parse_conjunctive_query = staticmethod(cache(Rule.parse_conjunctive_query))
    translate = lru_cache(maxsize=1)(logic.fast_downward.pddl2sas)
    logic.fast_downward.pddl2sas = lambda domain, problem, verbose=False, optimize=False: translate(domain, problem)


def readable_names(ids: Iterable[str]) -> dict[str, str]:
    """`desk_bar__minus_00_dot_57_bar_…` becomes `desk 1`, numbered as in ALFWorld: the last of a kind's ids is 1."""
    counts: Counter[str] = Counter()
    names = {}
    for entity in sorted(ids, reverse=True):
        kind, separator, rest = entity.partition(SEPARATOR)
        if not separator:
            names[entity] = entity
            continue
        # The part of a sink or a bathtub that holds things is a place of its own.
        kind += "basin" if rest.endswith("basin") else ""
        counts[kind] += 1
        names[entity] = f"{kind} {counts[kind]}"
    return names


class ReadableEnv(PddlEnv):  # type: ignore[misc]  # TextWorld has no types
    """TextWorld's environment with readable names in commands and observations."""

    def _get_entity_infos(self) -> Any:
        infos = super()._get_entity_infos()
        for entity, name in readable_names(infos).items():
            infos[entity].name = name
        return infos


class Household:
    """Plays one game after another."""

    def __init__(self) -> None:
        self._env = ReadableEnv()

    def start(self, game: Mapping[str, Any]) -> str:
        """The opening of a game, read from its `game.tw-pddl`: what there is, and the task."""
        self._env.load(game)
        _banner, _, opening = self._env.reset().feedback.partition("\n\n")
        return str(opening).strip()

    def act(self, command: str) -> tuple[str, bool]:
        """What the command brings about, and whether the task is done."""
        state, _, _ = self._env.step(command)
        return str(state.feedback).strip(), bool(state["won"])

    def commands(self) -> list[str]:
        """Every command that would do something now."""
        return list(self._env.state["admissible_commands"])


def answer(household: Household, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Requests: {archive, game}, {command} or {list}; answers have `text` and `won`, or `commands`."""
    if "game" in request:
        with zipfile.ZipFile(request["archive"]) as archive:
            game = json.loads(archive.read(request["game"]))
        return {"text": household.start(game), "won": False}
    if "command" in request:
        text, won = household.act(request["command"])
        return {"text": text, "won": won}
    return {"commands": household.commands()}


def serve(descriptor: int) -> None:
    """Answer until the other side is gone. An exception ends the process: its traceback is on standard error."""
    household = Household()
    with Connection(descriptor) as connection:
        while True:
            try:
                request = json.loads(connection.recv_bytes())
            except (EOFError, ConnectionResetError):
                return
            connection.send_bytes(json.dumps(answer(household, request)).encode())


if __name__ == "__main__":
    descriptor = int(sys.argv[1])
    quicken()
    serve(descriptor)
