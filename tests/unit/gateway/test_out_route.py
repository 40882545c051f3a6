"""The allow-list's route: hosts and methods, redirects and links that lead back, against a real small index."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmark.gateway.ledger import Ledger
from benchmark.gateway.out_route import OutRoute
from benchmark.gateway.process import Gateway
from benchmark.services.out_hosts import BadAllowList, hosts_allowed
from tests.support.serving import LocalServer


class Index(BaseHTTPRequestHandler):
    """`/simple/` links to itself, by an address, by a root path, and elsewhere; `/moved` and `/away` redirect.

    `/endless/` is the same without its length, `/broken.whl` ends too early.
    """

    seen: list[dict[str, str]]
    address: str

    def do_GET(self) -> None:
        self.seen.append({"path": self.path, **{name.lower(): value for name, value in self.headers.items()}})
        moved = {"/moved": f"http://{self.address}/file.whl?x=1", "/rooted": "/file.whl", "/away": "http://other.org/f"}
        if self.path in moved:
            self.send_response(302)
            self.send_header("Location", moved[self.path])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        page = f'<a href="http://{self.address}/file.whl#sha256=1"></a><a href="/root.whl"></a><a href="http://other.org/f">'
        is_page = self.path in ("/simple/", "/endless/")
        content = page.encode() if is_page else b"\x00http://" + self.address.encode() + b"/raw"
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if is_page else "application/octet-stream")
        self.send_header("Set-Cookie", "a=b")
        if self.path != "/endless/":
            self.send_header("Content-Length", str(len(content) + (self.path == "/broken.whl")))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def index() -> Iterator[type[Index]]:
    class Mine(Index):
        seen: list[dict[str, str]] = []  # noqa: RUF012 - one for each test

    server = LocalServer(("127.0.0.1", 0), Mine)
    Mine.address = f"127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield Mine
    server.shutdown()
    server.server_close()


@pytest.fixture
def client(index: type[Index], tmp_path: Path) -> Iterator[httpx.Client]:
    route = OutRoute({index.address: frozenset({"GET"})}, Ledger({}, log_path=tmp_path / "log"), scheme="http")
    with Gateway(socket=tmp_path / "g.sock", routes=[route]):
        transport = httpx.HTTPTransport(uds=str(tmp_path / "g.sock"))
        with httpx.Client(transport=transport, base_url="http://127.0.0.1:8900") as made:
            yield made


def test_links_of_allowed_hosts_lead_back_and_others_stay(client: httpx.Client, index: type[Index]) -> None:
    answer = client.get(f"/out/{index.address}/simple/", headers={"authorization": "Bearer a", "cookie": "c"})
    here = f"http://127.0.0.1:8900/out/{index.address}"
    assert f'href="{here}/file.whl#sha256=1"' in answer.text
    assert f'href="{here}/root.whl"' in answer.text
    assert 'href="http://other.org/f"' in answer.text
    assert "set-cookie" not in answer.headers
    assert {"authorization", "cookie"}.isdisjoint(index.seen[0])


def test_redirects_lead_back_and_files_are_left_as_they_are(client: httpx.Client, index: type[Index]) -> None:
    here = f"http://127.0.0.1:8900/out/{index.address}"
    assert client.get(f"/out/{index.address}/moved").headers["location"] == f"{here}/file.whl?x=1"
    assert client.get(f"/out/{index.address}/rooted").headers["location"] == f"{here}/file.whl"
    assert client.get(f"/out/{index.address}/away").headers["location"] == "http://other.org/f"
    assert client.get(f"/out/{index.address}/file.whl").content.endswith(b"/raw")


def test_a_page_too_large_to_rewrite_is_passed_on_as_it_comes(
    client: httpx.Client, index: type[Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmark.gateway.out_route.INDEX_BYTES", 9)
    text = client.get(f"/out/{index.address}/endless/").text
    assert f'href="http://{index.address}/file.whl' in text
    assert text.endswith('other.org/f">')


def test_a_page_that_breaks_off_is_in_the_log(client: httpx.Client, index: type[Index], tmp_path: Path) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        client.get(f"/out/{index.address}/broken.whl")
    told = json.loads((tmp_path / "log").read_text().splitlines()[-1])
    assert (told["status"], told["path"]) == (200, "/broken.whl")
    assert "RemoteProtocolError" in told["error"]


def test_other_hosts_and_methods_are_refused(client: httpx.Client, index: type[Index]) -> None:
    for method, path in [
        ("GET", "/out/other.org/f"),
        ("POST", f"/out/{index.address}/simple/"),
        ("GET", f"/out/{index.address}"),
        ("GET", f"/out/{index.address}@other.org/"),
        ("GET", "/out/127.0.0.1:22/"),
        ("GET", f"/out/{index.address}%2f/"),
    ]:
        assert client.request(method, path).status_code == 403
    assert index.seen == []


def test_entries_name_hosts_and_methods() -> None:
    assert hosts_allowed(["pypi.org", "GET+POST:api.x.org:8443"]) == {
        "pypi.org": {"GET", "HEAD"},
        "api.x.org:8443": {"GET", "POST"},
    }
    assert hosts_allowed([]) == {}


@pytest.mark.parametrize(
    "entry", ["https://pypi.org", "pypi.org/simple", "*", "localhost", "get:pypi.org", "a b.org", ""]
)
def test_odd_entries_are_refused(entry: str) -> None:
    with pytest.raises(BadAllowList, match="AGENT2_ALLOW"):
        hosts_allowed([entry])
