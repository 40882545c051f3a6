"""Search and judge through the sandbox's gateway, where the deployment offers them to agents."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.tasks.services_contract import Hit, ServiceFault, answer_of, hits_of

PATIENCE_S = 3600.0
"""Longer than the worker's own: it gives up first, with a reason."""


class GatewayServices:
    """Implements `benchmark.tasks.services_contract.Services`."""

    def __init__(self, gateway: str) -> None:
        self._gateway = gateway.rstrip("/")
        # The gateway is on this machine, whatever proxy the environment names.
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    def chat(self, request: Mapping[str, Any], *, fresh: bool = False) -> Mapping[str, Any]:
        return answer_of(self._ask("/judge", {"request": request, "fresh": fresh}))

    def search(self, query: str, *, count: int) -> Sequence[Hit]:
        return hits_of(self._ask("/search", {"query": query, "count": count}))

    def _ask(self, path: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        request = urllib.request.Request(  # noqa: S310 — the gateway's own address
            self._gateway + path, json.dumps(asked).encode(), {"content-type": "application/json"}
        )
        try:
            with self._open(request, timeout=PATIENCE_S) as answer:
                told = json.load(answer)
        except urllib.error.HTTPError as error:
            raise ServiceFault(error.read().decode("utf-8", "replace")[:500]) from error
        except (OSError, ValueError) as error:
            raise ServiceFault(f"the gateway does not answer: {error}") from error
        if not isinstance(told, dict):
            raise ServiceFault("the gateway's answer did not arrive whole")
        return told
