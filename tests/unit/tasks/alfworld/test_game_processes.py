"""Games' processes that crash, hang, are used again and end."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from benchmark.tasks.alfworld import games
from benchmark.tasks.alfworld.evaluator import FILE, Alfworld
from benchmark.tasks.alfworld.games import Game, GameCrash, GameRoom
from benchmark.tasks.contract import Completion
from tests.support.waiting import until
from tests.unit.tasks.alfworld.conftest import RealGames

NAME = "pick_and_place_simple-Mug-None-Desk-308/trial_T20190909_210238_431966"
COMMANDS = ["go to shelf 1", "look", "inventory"]


@pytest.fixture
def game(real_games: RealGames, room: GameRoom) -> Game:
    return Game(room, real_games.held_out / "valid_unseen.zip", NAME + FILE)


def pid_of(game: Game) -> int:
    assert game._process is not None
    return game._process.pid


def test_a_killed_game_goes_on_where_it_was(game: Game, real_games: RealGames) -> None:
    game.start()
    commands = real_games.walkthroughs[NAME]
    for command in commands[:-1]:
        game.act(command)
    os.kill(pid_of(game), signal.SIGKILL)
    assert game.act(commands[-1]).won
    assert game.restarts == 1
    game.close()


def test_a_second_crash_is_raised(game: Game) -> None:
    game.start()
    os.kill(pid_of(game), signal.SIGKILL)
    game.act("look")
    os.kill(pid_of(game), signal.SIGKILL)
    with pytest.raises(GameCrash, match="ended with code -9"):
        game.act("look")


def test_a_hanging_game_is_ended(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    game.start()
    hanging = psutil.Process(pid_of(game))
    hanging.suspend()
    monkeypatch.setattr(games, "ANSWER_WITHIN_S", 0.2)
    game.restarts = 1
    with pytest.raises(GameCrash, match="did not answer"):
        game.act("look")
    assert not hanging.is_running()


def test_an_episode_whose_game_keeps_crashing_raises(real_games: RealGames, room: GameRoom, tmp_path: Path) -> None:
    task = Alfworld()
    item = task.items(real_games.held_out)[0]
    episode = task.episode(type(item)(item.id, {**item.payload, "archive": str(tmp_path / "gone.zip")}))
    with pytest.raises(GameCrash):
        next(episode)


def test_a_closed_episode_gives_its_process_back(real_games: RealGames, room: GameRoom) -> None:
    task = Alfworld()
    items = task.items(real_games.held_out)
    before = set(psutil.Process().children())
    for item in items[:2]:
        episode = task.episode(item)
        next(episode)
        episode.send(Completion("look", 1, "stop"))
        episode.close()
    new = set(psutil.Process().children()) - before
    assert len(new) == 1
    task._room.close()
    assert not new & set(psutil.Process().children())


def test_processes_end_with_the_program_that_started_them(real_games: RealGames, room: GameRoom) -> None:
    program = (
        "import sys, os; from benchmark.tasks.alfworld.games import GameProcess;"
        "p = GameProcess(); p.ask({'archive': sys.argv[1], 'game': sys.argv[2]}); print(p.pid, flush=True); os._exit(1)"
    )
    archive = str(real_games.held_out / "valid_unseen.zip")
    ended = subprocess.run(
        [sys.executable, "-c", program, archive, NAME + FILE], check=False, capture_output=True, text=True
    )
    pid = int(ended.stdout)
    until(lambda: _gone(pid), "its game has ended")


def _gone(pid: int) -> bool:
    """Where nobody collects orphans they stay as zombies."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


@pytest.mark.slow
def test_quickened_games_say_what_plain_ones_say(game: Game, real_games: RealGames) -> None:
    game.start()
    quick = [(game.act(command).observation, game.commands()) for command in COMMANDS]
    game.close()
    program = (
        "import json, sys, zipfile; _, folder, archive, game, *commands = sys.argv;"  # the planner empties sys.argv
        "sys.path.insert(0, folder); import household; h = household.Household();"
        "h.start(json.loads(zipfile.ZipFile(archive).read(game)));"
        "json.dump([(h.act(c)[0], h.commands()) for c in commands], sys.stderr)"
    )
    folder, archive = games.PROGRAM.parent, real_games.held_out / "valid_unseen.zip"
    arguments = [sys.executable, "-c", program, str(folder), str(archive), NAME + FILE, *COMMANDS]
    plain = subprocess.run(arguments, capture_output=True, text=True, check=True).stderr
    assert [tuple(step) for step in json.loads(plain)] == quick
