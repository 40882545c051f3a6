"""Games in other processes: started on demand, used again, replaced when they crash."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("household.py")
ANSWER_WITHIN_S = 300.0
"""Loading a game takes seconds, a step a fraction of one; a process that takes this long hangs."""
ENVIRONMENT = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""The hash seed decides in which order observations list things: fixed, or equal games would read differently."""


class GameCrash(Exception):
    """A game's process ended or hung. Its own message is on standard error."""


@dataclass(frozen=True)
class Reply:
    """What a command brought about, and whether the task is done."""

    observation: str
    won: bool


class GameProcess:
    """One process that plays one game at a time."""

    def __init__(self) -> None:
        self._connection, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                # -P: this folder's file names must not hide modules of the packages.
                [sys.executable, "-P", str(PROGRAM), str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **ENVIRONMENT},
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request; blocks. Raises: GameCrash."""
        try:
            self._connection.send_bytes(json.dumps(request).encode())
            if not self._connection.poll(ANSWER_WITHIN_S):
                raise GameCrash(f"the game's process did not answer within {ANSWER_WITHIN_S:g} s")
            answer: dict[str, Any] = json.loads(self._connection.recv_bytes())
        except (EOFError, OSError) as error:
            self.kill()
            raise GameCrash(f"the game's process ended with code {self._process.returncode}") from error
        return answer

    def kill(self) -> None:
        """End the process. Idempotent."""
        self._process.kill()
        self._process.wait()
        self._connection.close()


class GameRoom:
    """Processes for games, as many as are played at a time. Safe to use from several threads."""

    def __init__(self) -> None:
        self._idle: list[GameProcess] = []
        self._lock = threading.Lock()

    def take(self) -> GameProcess:
        """An idle process, or a new one."""
        with self._lock:
            return self._idle.pop() if self._idle else GameProcess()

    def put_back(self, process: GameProcess) -> None:
        """Keep a process for the next game, whatever it is in the middle of."""
        with self._lock:
            self._idle.append(process)

    def close(self) -> None:
        """End the idle processes. Those of a program that ends without this see their socket close and end too."""
        with self._lock:
            while self._idle:
                self._idle.pop().kill()


class Game:
    """One game from its opening on. After a crash it is played again from the start, once, by the same commands."""

    def __init__(self, room: GameRoom, archive: str | os.PathLike[str], name: str) -> None:
        self._room = room
        self._load = {"archive": os.fspath(archive), "game": name}
        self._process: GameProcess | None = None
        self._past: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.restarts = 0

    def start(self) -> str:
        """The opening: what there is in the room, and the task. Raises: GameCrash: also the second time."""
        return str(self._play(self._load)["text"])

    def act(self, command: str) -> Reply:
        """Do one command. Raises: GameCrash: also the second time."""
        answer = self._play({"command": command})
        return Reply(str(answer["text"]), bool(answer["won"]))

    def commands(self) -> list[str]:
        """Every command that would do something now. Raises: GameCrash."""
        try:
            return list(self._running().ask({"list": True})["commands"])
        except GameCrash:
            self._drop()
            raise

    def close(self) -> None:
        """Give the process back. Idempotent."""
        if self._process is not None:
            self._room.put_back(self._process)
            self._process = None

    def _play(self, request: dict[str, str]) -> dict[str, Any]:
        try:
            answer = self._running().ask(request)
        except GameCrash:
            self._drop()
            if self.restarts:
                raise
            self.restarts += 1
            answer = self._again(request)
        self._past.append((request, answer))
        return answer

    def _again(self, request: dict[str, str]) -> dict[str, Any]:
        try:
            for earlier, seen in self._past:
                if self._running().ask(earlier) != seen:
                    raise GameCrash("played again, the game went another way")
            return self._running().ask(request)
        except GameCrash:
            self._drop()
            raise

    def _running(self) -> GameProcess:
        if self._process is None:
            self._process = self._room.take()
        return self._process

    def _drop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None
