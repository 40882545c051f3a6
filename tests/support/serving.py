"""A local HTTP server for tests, running while its context is open."""

import threading
from http.server import ThreadingHTTPServer
from types import TracebackType
from typing import Self


class LocalServer(ThreadingHTTPServer):
    """A thread for each connection. A burst of them waits to be accepted; of the default five more are reset."""

    request_queue_size = 1024
    daemon_threads = True


class Serving:
    """Serves `_server`, which the subclass makes, from a thread of its own."""

    _server: ThreadingHTTPServer

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
