"""Uploads through a real server: cut at any byte, by a dying client or a dying server; then checked by a worker."""

import hashlib
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.bundling import DETAILS, bundle_bytes
from tests.support.platform import Platform
from tests.support.tus import Tus

PEOPLE = """
from tests.support.people import person
from benchmark.services.tokens import token_create
_, secret = token_create(user=person("ada", "submitter"), name="tests", scopes=["read", "submit"])
print("secret", secret)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    platform = Platform(tmp_path_factory.mktemp("site"))
    platform.manage("migrate", "-v0")
    platform.start_server()
    try:
        yield platform
    finally:
        platform.stop()


@pytest.fixture(scope="module")
def tus(site: Platform) -> Tus:
    told = site.manage("shell", "-c", PEOPLE)
    secret = next(line.split()[1] for line in told.splitlines() if line.startswith("secret "))
    return Tus(site.http, site.url, secret)


@contextmanager
def cut_patch(tus: Tus, place: str, offset: int, declared: int, data: bytes) -> Iterator[None]:
    """A PATCH that declares more than it sends; the connection is closed after the body."""
    where = urlsplit(tus.url)
    headers = {
        **tus.headers,
        "Host": where.netloc,
        "Upload-Offset": str(offset),
        "Content-Type": "application/offset+octet-stream",
        "Content-Length": str(declared),
    }
    lines = [f"PATCH {place} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    with socket.create_connection((where.hostname, where.port)) as connection:
        connection.sendall("\r\n".join(lines).encode() + data)
        yield


def settled(site: Platform, tus: Tus, place: str) -> int:
    """How much the server has, once it has noticed the cut."""
    seen = [-1]

    def still() -> bool:
        seen.append(int(tus.head(place).headers["Upload-Offset"]))
        return seen[-1] == seen[-2]

    site.until(still, 60, "the offset stands still")
    return seen[-1]


def go_on(site: Platform, tus: Tus, place: str, data: bytes) -> Any:
    """The last answer; a request that still holds the file is waited for."""
    answer: Any = None

    def done() -> bool:
        nonlocal answer
        at = int(tus.head(place).headers["Upload-Offset"])
        answer = tus.patch(place, at, data[at:])
        return answer.status_code not in (409, 423)

    site.until(done, 60, "the upload is free")
    return answer


def test_cut_at_any_byte_it_goes_on(site: Platform, tus: Tus) -> None:
    data = random.Random(7).randbytes(3_000_000)
    place = tus.announce(len(data), "cut.zip")
    chance, at, furthest = random.Random(11), 0, 0
    for size in (1, 17, 65_536, 1_048_577, *(chance.randrange(1, 300_000) for _ in range(5))):
        with cut_patch(tus, place, at, len(data) - at, data[at : at + size]):
            pass
        furthest = max(furthest, at + size)
        before, at = at, settled(site, tus, place)
        # What the server had not read when it noticed is sent again; it may still be at what an earlier request sent.
        assert before <= at <= furthest
    assert at > 500_000
    answer = go_on(site, tus, place, data)
    assert answer.status_code == 204, answer.text
    archive = site.http.get(site.url + "/api/v1" + answer.headers["Bundle-Location"], headers=tus.headers).json()
    kept = next((site.data / "bundles" / "kept").rglob("*.zip"))
    assert kept.read_bytes() == data
    assert archive["size"] == len(data)


def test_the_server_may_die_in_between(site: Platform, tus: Tus) -> None:
    data = random.Random(8).randbytes(2_000_000)
    place = tus.announce(len(data), "died.zip")
    with cut_patch(tus, place, 0, len(data), data[:1_500_000]):
        quarantine = site.data / "bundles" / "quarantine" / place.rstrip("/").rsplit("/", 1)[1]
        site.until(lambda: quarantine.stat().st_size >= 1_000_000, 60, "most of it is on disk")
        site.kill("server")
    site.start_server()
    at = int(tus.head(place).headers["Upload-Offset"])
    assert 1_000_000 <= at < len(data)
    assert go_on(site, tus, place, data).headers["Bundle-Sha256"]


def test_two_at_once_are_not_mixed(site: Platform, tus: Tus) -> None:
    data = random.Random(9).randbytes(3_000_000)
    place = tus.announce(len(data), "two.zip")
    with cut_patch(tus, place, 0, len(data), data[:1_500_000]):
        site.until(lambda: int(tus.head(place).headers["Upload-Offset"]) > 0, 60, "the first is writing")
        at = int(tus.head(place).headers["Upload-Offset"])
        assert tus.patch(place, at, data[at:]).status_code == 423
    assert go_on(site, tus, place, data).headers["Bundle-Sha256"] == hashlib.sha256(data).hexdigest()


def test_a_worker_checks_it_while_the_report_follows(site: Platform, tus: Tus, tmp_path: Path) -> None:
    archive = tmp_path / "run.zip"
    archive.write_bytes(bundle_bytes())
    place = tus.send(archive, details=DETAILS).headers["Bundle-Location"]
    told = site.http.get(site.url + "/api/v1" + place, headers=tus.headers).json()
    assert told["state"] == "received"
    site.start_worker()
    report: dict[str, Any] = {}

    def ended() -> bool:
        report.update(site.http.get(site.url + "/api/v1" + place, headers=tus.headers).json())
        return report["state"] not in ("received", "checking")

    site.until(ended, 180, "the check ends")
    assert (report["state"], report["trust"]) == ("accepted", "checked"), report["report"]
    assert report["report"]["peak_mb"] < 300
    assert site.http.get(f"{site.url}/runs/{report['run']}/").status_code == 404
