"""An evaluation's way out of its sandbox: one socket, behind it what its task needs and nothing else."""

import json
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Protocol

from django.conf import settings

from benchmark.catalogue import Task
from benchmark.gateway.process import Gateway
from benchmark.sandbox.contract import Mount
from benchmark.services.needs import needs_missing, needs_suffix
from benchmark.services.protocols import protocol_unlimited
from grading.models import Evaluation
from grading.outside.judge import Judge, JudgeSettings
from grading.outside.route import HandlerRoute
from grading.outside.search.configure import SearchSettings, open_search
from grading.outside.store import AnswerStore
from grading.services.places import evaluation_folder

INSIDE = PurePosixPath("/run/agent2/outside.sock")
TALLY = "outside.json"


class NotConfigured(Exception):
    """This worker cannot answer what the evaluation will ask; the message names the setting."""


class Desk(Protocol):
    """Answers one kind of question."""

    def route(self) -> HandlerRoute: ...

    def metrics(self) -> dict[str, float | None]:
        """What it was asked, for the verdict."""
        ...

    def versions(self) -> dict[str, str]:
        """Who answered, for the verdict."""
        ...


class WayOut:
    """Open from `__enter__` to `__exit__`; nothing is opened for a task that needs nothing."""

    def __init__(self, evaluation: Evaluation, task: Task) -> None:
        """Raises: NotConfigured; SearchNotConfigured."""
        self._tally = evaluation_folder(evaluation) / TALLY
        self._socket = Path(settings.DATA_DIR) / "outside" / f"evaluation-{evaluation.pk}.sock"
        self._desks = _desks(evaluation, task)
        self._open = ExitStack()

    def __enter__(self) -> "WayOut":
        if self._desks:
            self._socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            routes = [desk.route() for desk in self._desks]
            self._open.enter_context(Gateway(socket=self._socket, routes=routes))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        if self._desks:
            self._tally.write_text(json.dumps(self.metrics()))

    def mount(self, *, isolated: bool) -> Mount | None:
        """The socket as the runner sees it."""
        return Mount(self._socket, INSIDE if isolated else PurePosixPath(self._socket)) if self._desks else None

    def versions(self) -> dict[str, str]:
        """Who answered in this attempt."""
        return {name: value for desk in self._desks for name, value in desk.versions().items()}

    def metrics(self) -> dict[str, float | None]:
        """What all attempts of this evaluation together have asked. Before `__exit__` only."""
        try:
            earlier = json.loads(self._tally.read_text())
        except (OSError, ValueError):
            earlier = {}
        now = {name: value for desk in self._desks for name, value in desk.metrics().items()}
        return {name: None if value is None else value + (earlier.get(name) or 0) for name, value in now.items()}


def _desks(evaluation: Evaluation, task: Task) -> list[Desk]:
    if missing := needs_missing(task):
        raise NotConfigured(missing)
    asked, here = protocol_unlimited(evaluation.protocol), task.protocol + needs_suffix(task)
    if task.needs and asked != here:
        raise NotConfigured(f"This evaluation belongs to {asked}; with this worker's settings it would be {here}.")
    openers = {"judge": _judge, "search": _search}
    return [openers[need]() for need in task.needs]


def _judge() -> Desk:
    judge = JudgeSettings(
        url=settings.JUDGE_URL,
        model=settings.JUDGE_MODEL,
        key=settings.JUDGE_KEY,
        parameters=settings.JUDGE_PARAMETERS,
        price_in=settings.JUDGE_PRICE_IN,
        price_out=settings.JUDGE_PRICE_OUT,
        concurrency=settings.JUDGE_CONCURRENCY,
        timeout_s=settings.JUDGE_TIMEOUT_S,
        patience_s=settings.JUDGE_PATIENCE_S,
    )
    return Judge(judge, AnswerStore(Path(settings.DATA_DIR) / "answers" / "judge"))


def _search() -> Desk:
    search = SearchSettings(
        backend=settings.SEARCH_BACKEND,
        url=settings.SEARCH_URL,
        key=settings.SEARCH_KEY,
        snapshot=settings.SEARCH_SNAPSHOT,
        mode=settings.SEARCH_MODE,
    )
    return open_search(search, Path(settings.DATA_DIR) / "answers" / "search")
