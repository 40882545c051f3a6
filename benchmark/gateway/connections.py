"""One run's connections to its gateway: how many there may be, and how long a client may take to ask.

The gateways of all runs of a worker share its memory, its cores and its file descriptors, so what one agent does to its
own must not pile up. Requests themselves may be answered hours later.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

from benchmark.gateway.asgi import whole_answer
from benchmark.gateway.routes import GatewayApp

CLOSING_S = 5.0
"""For a client to read why it is sent away."""


def connections_of(app: GatewayApp) -> type[asyncio.Protocol]:
    """The protocol of that gateway's connections, for uvicorn to make one of each."""

    class Connection(H11Protocol):
        """As uvicorn's, for no longer than the client has a request going or is about to."""

        patience: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > app.connections_most:
                self._send_away(503, "too_many_connections", "This run has too many connections open.")
            else:
                self._look()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._look()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._look()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def send_400_response(self, msg: str) -> None:
            app.abuse["malformed_request"] += 1
            super().send_400_response(msg)

        def _look(self) -> None:
            """While nothing is being answered, a request has to be asked for in time."""
            if self.transport.is_closing() or (self.cycle is not None and not self.cycle.response_complete):
                self._stop_waiting()
            elif self.patience is None:
                self.patience = self.loop.call_later(app.head_s, self._late)

        def _stop_waiting(self) -> None:
            if self.patience is not None:
                self.patience.cancel()
                self.patience = None

        def _late(self) -> None:
            self._send_away(408, "slow_request", f"The request did not come within {app.head_s:g} s.")

        def _send_away(self, status: int, code: str, message: str) -> None:
            app.abuse[code] += 1
            self.transport.write(whole_answer(status, message))
            self.transport.close()
            self.loop.call_later(CLOSING_S, self.transport.abort)

    return Connection
