"""A platform whose sealed files lie in a bucket: a run, an empty disk, an outage, a restart, and the way back."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.object_storage import ObjectServer, object_server
from tests.support.platform import Platform

pytestmark = [
    pytest.mark.bubblewrap,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ObjectServer]:
    with object_server(tmp_path) as server:
        yield server


@pytest.fixture
def site(store: ObjectServer, tmp_path: Path) -> Iterator[Platform]:
    platform = Platform(tmp_path / "site", store.environment)
    try:
        yield platform.start()
    finally:
        platform.stop()


def text(site: Platform, address: str) -> tuple[int, str]:
    answer = site.http.get(site.url + address, timeout=120, headers={"accept": "text/html"})
    # A form's token is made anew for every page.
    return answer.status_code, re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", answer.text)


def finished(site: Platform, base: Path) -> str:
    """A run of the test agent that writes code, ended and recorded."""
    slug = site.run(base, "two-methods", agent="coding")
    assert site.ended(slug)["state"] == "finished"
    site.until(lambda: trace_key(site, slug) != "", 240, "the transcript is read")
    site.until(lambda: len(site.get(slug, "metrics/")["switches"]) == 1, 240, "the methods are judged")
    return slug


def trace_key(site: Platform, slug: str) -> str:
    found = re.search(r"trace/([0-9a-f]{32})/", text(site, f"/runs/{slug}/trace/")[1])
    return found[1] if found else ""


def pages(site: Platform, slug: str) -> dict[str, str]:
    """Address → what is there only when its file can be read."""
    key = trace_key(site, slug)
    return {
        f"/runs/{slug}/trace/{key}/whole.atif.json": '"ATIF',
        f"/runs/{slug}/trace/{key}/whole.log": "tool_use",
        f"/runs/{slug}/submissions/1..2/diff": "train_grpo.py",
    }


def kept(site: Platform) -> list[str]:
    """What of the sealed kinds lies on the disk."""
    return [str(path) for path in (site.data / "traces").rglob("*") if path.is_file()]


def test_a_run_whose_files_lie_in_a_bucket(site: Platform, store: ObjectServer, base: Path) -> None:
    slug = finished(site, base)
    site.manage("storage", "move")
    asked = pages(site, slug)
    before = {address: text(site, address) for address in asked}
    for address, needle in asked.items():
        assert before[address][0] == 200, address
        assert needle in before[address][1], address
    site.manage("prune", "--copies-days", "0")
    assert kept(site) == []
    assert all(name.startswith("bench/one/") for name in store.names())

    store.gate.shut()
    assert {text(site, address)[0] for address in asked} == {503}
    assert text(site, f"/runs/{slug}/")[0] == text(site, "/")[0] == 200
    second = finished(site, base)
    assert kept(site) != [], "what is sealed during an outage waits on the disk"

    # Neither process remembers anything that the other deployment of the same data would not know.
    site.kill("worker")
    site.kill("server")
    store.gate.open()
    site.start_server()
    site.start_worker()
    assert {address: text(site, address) for address in asked} == before
    site.manage("storage", "move")
    told = site.manage("storage", "check", "--contents")
    assert re.search(r"([1-9]\d*) of \1 objects were read", told), told
    assert " 0 wait" in site.manage("storage", "status").replace("; ", " ")

    site.manage("prune", "--copies-days", "0")
    site.manage("storage", "fetch")
    store.gate.shut()
    everything = {**asked, **pages(site, second)}
    for address, needle in everything.items():
        status, content = text(site, address)
        assert (status, needle in content) == (200, True), address
