"""The evaluator's way to what lies outside the sandbox: one UNIX socket, answered by the worker."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from benchmark.tasks.contract import Evaluator
from benchmark.tasks.services_contract import Hit, ServiceFault, answer_of, hits_of
from grading.runner.faults import InfraFault

PATIENCE_S = 3600.0
"""Longer than the worker's own: it gives up first, with a reason."""
LONG_WAIT = httpx.Timeout(10.0, read=PATIENCE_S, pool=None)
LONGEST_ADDRESS = 100
"""A UNIX socket's address has room for 107 bytes."""


class SocketServices:
    """Implements `benchmark.tasks.services_contract.Services`."""

    def __init__(self, socket: Path) -> None:
        # A connection for each question: one that is kept may be closed by the other side just as it is used again.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        self._client = httpx.Client(
            transport=httpx.HTTPTransport(uds=socket_address(socket), limits=limits),
            base_url="http://outside",
            timeout=LONG_WAIT,
        )

    def chat(self, request: Mapping[str, Any], *, fresh: bool = False) -> Mapping[str, Any]:
        return answer_of(self._ask("/judge", {"request": request, "fresh": fresh}))

    def search(self, query: str, *, count: int) -> Sequence[Hit]:
        return hits_of(self._ask("/search", {"query": query, "count": count}))

    def _ask(self, path: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            answer = self._client.post(path, json=asked)
            told = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise ServiceFault(f"the worker does not answer on its socket: {error!r}") from error
        if not isinstance(told, dict) or answer.status_code != httpx.codes.OK:
            raise ServiceFault(str(told.get("detail", answer.status_code) if isinstance(told, dict) else told))
        return told


def connect(evaluator: Evaluator, socket: str | None) -> None:
    """Hand the services to an evaluator that asks for them.

    Raises: InfraFault: I_PROVIDER, the spec names no socket.
    """
    ask = getattr(evaluator, "connect", None)
    if ask is None:
        return
    if socket is None:
        raise InfraFault(
            "I_PROVIDER", "the task needs services outside the sandbox; the spec names no socket as `outside`"
        )
    ask(SocketServices(Path(socket)))


def socket_address(socket: Path) -> str:
    """The path, or where it is too long for an address, one through its folder's descriptor, which stays open."""
    if len(os.fsencode(socket)) <= LONGEST_ADDRESS:
        return str(socket)
    return f"/proc/self/fd/{os.open(socket.parent, os.O_RDONLY | os.O_DIRECTORY)}/{socket.name}"
