"""A socket with a judge behind it, and the runner's client in front."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from benchmark.gateway.process import Gateway
from grading.outside.judge import Judge, JudgeSettings
from grading.outside.store import AnswerStore
from grading.runner.services import SocketServices
from tests.support.judge import ScriptedJudge

Ask = Callable[..., tuple[Judge, SocketServices]]


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Ask]:
    """`asking(scripted, **settings)`: the judge on the worker's side, the services on the evaluator's."""
    with ExitStack() as stack:

        def ask(scripted: ScriptedJudge, *, store: str = "judge", **changes: Any) -> tuple[Judge, SocketServices]:
            settings = {"url": scripted.url, "model": scripted.model, "key": scripted.key, "patience_s": 60.0}
            judge = Judge(JudgeSettings(**{**settings, **changes}), AnswerStore(tmp_path / store))
            socket = tmp_path / f"{len(list(tmp_path.iterdir()))}.sock"
            stack.enter_context(Gateway(socket=socket, routes=[judge.route()]))
            return judge, SocketServices(socket)

        yield ask
