"""A client of the Docker engine that keeps few connections, however many containers come and go."""

from collections.abc import Mapping
from typing import Any

from docker.transport import UnixHTTPAdapter
from docker.types import CancellableStream

from docker import DockerClient

TIMEOUT_S, CONNECTIONS_MOST = 60, 64
BASE = "http+docker://"


class OneEngine(UnixHTTPAdapter):
    """One pool for all addresses: docker-py's own makes one for each, and each keeps its last connection open."""

    def get_connection(self, url: str | bytes, proxies: Mapping[str, str] | None = None) -> Any:
        return super().get_connection(BASE, proxies)


def engine_client() -> DockerClient:
    """Raises: DockerException: DOCKER_HOST names no engine."""
    client = DockerClient.from_env(timeout=TIMEOUT_S, max_pool_size=CONNECTIONS_MOST)
    adapter = client.api.get_adapter(f"{BASE}localhost")
    if isinstance(adapter, UnixHTTPAdapter):
        client.api.mount(BASE, OneEngine(adapter.socket_path, TIMEOUT_S, max_pool_size=CONNECTIONS_MOST))
    return client


def hang_up(stream: "CancellableStream[bytes]") -> None:
    """End a stream of output. Its own `close` leaves the descriptor to a collection, which may be hours away."""
    stream._response.close()  # type: ignore[attr-defined]  # the stubs leave it out
