"""A worker starts a gateway for each run, for months."""

import gc
import ssl
from pathlib import Path

import httpx

from benchmark.gateway.ledger import Ledger
from benchmark.gateway.out_route import OutRoute
from benchmark.gateway.process import Gateway
from benchmark.gateway.provider_route import ProviderRoute
from benchmark.gateway.providers import Provider
from benchmark.gateway.routes import Route
from benchmark.gateway.tls import trusted
from tests.support.descriptors import growth, held_open


class TestGateways:
    """Each with every kind of route, and asked once."""

    def test_leave_no_descriptor_behind(self, tmp_path: Path) -> None:
        assert growth(lambda: serve_once(tmp_path), held_open, times=4) <= 0

    def test_share_their_certificates(self, tmp_path: Path) -> None:
        assert growth(lambda: serve_once(tmp_path), contexts, times=4) <= 0


def serve_once(folder: Path) -> None:
    ledger = Ledger({})
    provider = ProviderRoute(Provider("openai", "openai", "http://127.0.0.1:9", "key"), ledger, models=("model",))
    routes: list[Route] = [provider, OutRoute({"example.org": frozenset({"GET"})}, ledger)]
    upstream = "http://127.0.0.1:9"
    with (
        Gateway(socket=folder / "g.sock", upstream=upstream, prefixes=("/grading/token/",), routes=routes),
        httpx.Client(transport=httpx.HTTPTransport(uds=str(folder / "g.sock"), verify=trusted()), timeout=60) as client,
    ):
        assert client.get("http://gateway/elsewhere").status_code == 403


def contexts() -> int:
    """TLS contexts that lead to servers: 1.7 MiB each."""
    return sum(issubclass(type(each), ssl.SSLContext) for each in gc.get_objects())  # lazy objects stay so
