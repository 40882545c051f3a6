"""An evaluation's way out of its sandbox: one socket, behind it what its task needs and nothing else."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from types import TracebackType

from django.conf import settings

from benchmark.gateway.process import Gateway
from benchmark.sandbox.contract import Mount
from grading.services.desks import Desk

INSIDE = PurePosixPath("/run/agent2/outside.sock")
TALLY = "outside.json"


class WayOut:
    """Open from `__enter__` to `__exit__`; nothing is opened where there are no desks."""

    def __init__(self, name: str, folder: Path, desks: Sequence[Desk]) -> None:
        """`name` is the socket's; `folder` is kept over the attempts of one evaluation."""
        self._tally = folder / TALLY
        self._socket = Path(settings.DATA_DIR) / "outside" / f"{name}.sock"
        self._desks = desks
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
