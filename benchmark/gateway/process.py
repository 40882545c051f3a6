"""The gateway within this process: a server in a thread of its own, so it cannot outlive the worker that needs it."""

import asyncio
import contextlib
import os
import socket
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import uvicorn

from benchmark.gateway.connections import connections_of
from benchmark.gateway.grading_route import GradingRoute
from benchmark.gateway.routes import GatewayApp, Route

START_S = 10.0
STOP_S = 5.0


class Gateway:
    """Serves a UNIX socket from `start` to `stop`, or as a context manager.

    It listens as soon as `start` returns. The socket is open to everybody: the folder around it is what protects it.
    """

    def __init__(
        self, *, socket: Path, upstream: str = "", prefixes: Sequence[str] = (), routes: Sequence[Route] = ()
    ) -> None:
        """`upstream` with `prefixes` makes the grading route; `routes` are further ones."""
        self.path = socket
        self.routes = [*([GradingRoute(upstream, prefixes)] if upstream else []), *routes]
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._inode = 0
        self.app = GatewayApp(self.routes)
        self._server = make_server(self.app)

    @property
    def refused(self) -> Mapping[str, int]:
        """Paths that were asked for and that no route accepts, and how often."""
        return dict(self.app.refused)

    @property
    def abuse(self) -> Mapping[str, int]:
        """What was done to the gateway itself, by code, and how often."""
        return dict(self.app.abuse)

    def start(self) -> None:
        """Raises: OSError: the socket cannot be made."""
        listener = listening_socket(self.path)
        self._inode = self.path.stat().st_ino
        running = threading.Event()

        async def serve_here() -> None:
            self._loop = asyncio.get_running_loop()
            running.set()
            await serve(self._server, self.app, listener)

        name = f"gateway {self.path.name}"
        self._thread = threading.Thread(target=lambda: asyncio.run(serve_here()), name=name, daemon=True)
        self._thread.start()
        running.wait(START_S)

    def stop(self) -> None:
        """Remove the socket, unless it is another gateway's by now, and end what is open. Idempotent.

        Connections end without an answer: whoever waits inside may be asking the next worker's gateway in a moment.
        """
        thread, self._thread = self._thread, None
        if thread is None:
            return
        with contextlib.suppress(FileNotFoundError):
            if self.path.stat().st_ino == self._inode:
                self.path.unlink()
        if self._loop is not None and thread.is_alive():
            self._loop.call_soon_threadsafe(self._hang_up)
        thread.join(STOP_S)

    def _hang_up(self) -> None:
        for listening in self._server.servers:
            listening.close()
        for connection in list(self._server.server_state.connections):
            if connection.transport is not None:
                connection.transport.abort()
        self._server.should_exit = True

    def __enter__(self) -> "Gateway":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def make_server(app: GatewayApp) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            app,
            loop="asyncio",
            http=connections_of(app),
            ws="none",
            lifespan="off",
            log_config=None,
            # What a client does wrong is counted; in the log it could be told endlessly.
            log_level="error",
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
    )


async def serve(server: uvicorn.Server, app: GatewayApp, listener: socket.socket) -> None:
    try:
        await server.serve(sockets=[listener])
    finally:
        await app.close()
        listener.close()


def listening_socket(path: Path) -> socket.socket:
    """A listening UNIX socket at `path`, in place of one that a lost worker left there.

    The kernel takes at most 107 bytes of path, so it is named through its folder's descriptor.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{folder}/{path.name}")
        os.chmod(path, 0o666)  # noqa: S103 - see the class
        listener.listen(2048)
    except BaseException:
        with contextlib.suppress(OSError):
            listener.close()
        raise
    finally:
        os.close(folder)
    return listener
