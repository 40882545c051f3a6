"""Searches over a real socket, against a real HTTP server in each provider's shape, well-behaved and not."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from benchmark.gateway.process import Gateway
from benchmark.tasks.services_contract import Hit, ServiceFault
from grading.outside.search.backend import CONTROL
from grading.outside.search.configure import PUBLIC_URLS, SearchSettings, open_search
from grading.outside.search.desk import SearchDesk, normalised
from grading.runner.services import SocketServices
from tests.support import web
from tests.support.judge import Reply
from tests.support.web import KEY, ScriptedWeb, in_turn, pages, says

HITS = [
    Hit("Gun homicide rates", "https://example.org/rates", "Gun homicide rates - 0.1 in Singapore & 0.2 in Austria"),
    Hit("Second", "https://example.org/2", "Second - about Switzerland"),
    Hit("Third", "https://example.org/3", "Third - about Iceland"),
    Hit("Fourth", "https://example.org/4", "Fourth - too many"),
]
SHAPES: dict[str, web.Shape] = {
    "serpapi": web.serpapi,
    "brave": web.brave,
    "tavily": web.tavily,
    "searxng": web.searxng,
    "duckduckgo": web.duckduckgo,
}
Search = Callable[..., tuple[SearchDesk, SocketServices]]


@pytest.fixture
def searching(tmp_path: Path) -> Iterator[Search]:
    """`searching(backend, url, **settings)`: the desk on the worker's side, the services on the evaluator's."""
    with ExitStack() as stack:

        def search(backend: str, url: str, **changes: Any) -> tuple[SearchDesk, SocketServices]:
            settings: dict[str, Any] = {"backend": backend, "url": url, "key": KEY, "patience_s": 60.0}
            desk = open_search(SearchSettings(**{**settings, **changes}), tmp_path / "search")
            socket = tmp_path / f"{len(list(tmp_path.iterdir()))}.sock"
            stack.enter_context(Gateway(socket=socket, routes=[desk.route()]))
            return desk, SocketServices(socket)

        yield search


@pytest.mark.parametrize("backend", SHAPES)
def test_hits_of_every_provider(searching: Search, backend: str) -> None:
    with ScriptedWeb(pages(SHAPES[backend], HITS)) as scripted:
        _, services = searching(backend, scripted.url)
        assert services.search("  gun\nhomicide   rates ", count=3) == HITS[:3]
    [seen] = scripted.seen
    assert seen.asked.get("q", seen.asked.get("query")) == "gun homicide rates"
    assert seen.key == (KEY if backend in ("serpapi", "brave", "tavily") else "")


@pytest.mark.parametrize(
    ("backend", "path", "asked"),
    [
        ("serpapi", "/search.json", {"engine": "google", "q": "x", "num": "3"}),
        ("brave", "/res/v1/web/search", {"q": "x", "count": "3", "text_decorations": "false"}),
        ("tavily", "/search", {"query": "x", "max_results": 3, "search_depth": "basic"}),
        ("searxng", "/search", {"q": "x", "format": "json"}),
    ],
)
def test_requests_as_documented(searching: Search, backend: str, path: str, asked: dict[str, Any]) -> None:
    with ScriptedWeb(pages(SHAPES[backend], HITS)) as scripted:
        searching(backend, scripted.url)[1].search("x", count=3)
    [seen] = scripted.seen
    assert (seen.path, seen.asked) == (path, asked)
    assert seen.method == ("POST" if backend == "tavily" else "GET")


@pytest.mark.parametrize("backend", SHAPES)
def test_nothing_found_is_an_answer(searching: Search, backend: str) -> None:
    with ScriptedWeb(pages(SHAPES[backend], [])) as scripted:
        desk, services = searching(backend, scripted.url)
        assert services.search("zxqj", count=3) == []
        assert services.search("zxqj", count=3) == []
    assert (desk.counts.calls, desk.counts.cache_hits) == (1, 1)


NONSENSE: dict[str, Any] = {
    "serpapi": {"search_metadata": {"status": "Error"}, "error": "We couldn't get valid results. Try again later."},
    "brave": {"type": "ErrorResponse"},
    "tavily": {"query": "x"},
    "searxng": {"results": [], "unresponsive_engines": [["brave", "Suspended: too many requests"]]},
    "duckduckgo": {"Abstract": ""},
}
PASSING: list[tuple[str, web.Behaviour]] = [
    ("brave", lambda _: None),
    ("brave", lambda _: Reply({}, 429, {"retry-after": "0"})),
    ("brave", lambda _: Reply({}, 503)),
    ("brave", lambda _: Reply(b"<html>not you</html>")),
    ("brave", lambda _: Reply(b"[]")),
    ("duckduckgo", lambda _: Reply(b"", 202)),
    *((backend, says(told)) for backend, told in NONSENSE.items()),
    *((backend, says({})) for backend in SHAPES),
]


@pytest.mark.parametrize(("backend", "trouble"), PASSING)
def test_what_passes_is_repeated(searching: Search, backend: str, trouble: web.Behaviour) -> None:
    with ScriptedWeb(in_turn([trouble], pages(SHAPES[backend], HITS))) as scripted:
        desk, services = searching(backend, scripted.url)
        assert services.search("rates", count=1) == HITS[:1]
    assert len(scripted.seen) == 2
    assert desk.metrics() == {"search_calls": 1, "search_cache_hits": 0, "search_retries": 1}


@pytest.mark.parametrize(("backend", "trouble"), PASSING)
def test_what_does_not_pass_is_a_fault_and_not_remembered(
    searching: Search, backend: str, trouble: web.Behaviour
) -> None:
    with ScriptedWeb(trouble) as scripted:
        _, services = searching(backend, scripted.url, patience_s=0.1)
        with pytest.raises(ServiceFault, match="search"):
            services.search("rates", count=3)
        scripted.behave = pages(SHAPES[backend], HITS)
        assert services.search("rates", count=3) == HITS[:3]


def test_a_provider_that_is_down_is_a_fault(searching: Search) -> None:
    with ScriptedWeb(pages(web.searxng, HITS)) as scripted:
        pass
    with pytest.raises(ServiceFault, match=r"\(searxng\) cannot be reached"):
        searching("searxng", scripted.url, patience_s=0.5)[1].search("rates", count=3)


def test_retry_after_is_honoured(searching: Search) -> None:
    limited = Reply({"error": "Too many requests"}, 429, {"retry-after": "1.1"})
    with ScriptedWeb(in_turn([lambda _: limited], pages(web.tavily, HITS))) as scripted:
        _, services = searching("tavily", scripted.url)
        began = time.monotonic()
        assert services.search("rates", count=1) == HITS[:1]
    assert time.monotonic() - began >= 1.1


@pytest.mark.parametrize(("backend", "status"), [*((b, 403) for b in SHAPES), ("brave", 401), ("tavily", 432)])
def test_a_refusal_names_the_setting_and_not_the_key(searching: Search, backend: str, status: int) -> None:
    refused = Reply({"error": f"the key {KEY} is not valid"}, status)
    with ScriptedWeb(lambda _: refused) as scripted:
        with pytest.raises(ServiceFault, match=str(status)) as told:
            searching(backend, scripted.url)[1].search("rates", count=3)
        assert len(scripted.seen) == 1
    assert KEY not in str(told.value)
    setting = "AGENT2_SEARCH_KEY" if backend in ("serpapi", "brave", "tavily") else "AGENT2_SEARCH_URL"
    assert setting in str(told.value)
    assert ("search.formats" in str(told.value)) == (backend == "searxng")


@pytest.mark.parametrize("status", [400, 422])
def test_words_that_a_provider_does_not_take_find_nothing(searching: Search, status: int) -> None:
    def behave(seen: web.Seen) -> Reply:
        return Reply(web.brave(HITS)) if seen.asked["q"] == CONTROL else Reply({"error": "bad query"}, status)

    with ScriptedWeb(behave) as scripted:
        assert searching("brave", scripted.url)[1].search("site:", count=3) == []
    assert [seen.asked["q"] for seen in scripted.seen] == ["site:", CONTROL]


@pytest.mark.parametrize("status", [400, 422])
def test_a_provider_that_takes_no_words_is_a_fault(searching: Search, status: int) -> None:
    with ScriptedWeb(lambda _: Reply({"error": "bad token"}, status)) as scripted:
        _, services = searching("brave", scripted.url)
        with pytest.raises(ServiceFault, match=r"bad token.*AGENT2_SEARCH_KEY"):
            services.search("rates", count=3)
        scripted.behave = pages(web.brave, HITS)
        assert services.search("rates", count=3) == HITS[:3]


def test_a_key_repeated_in_a_failed_search_is_masked(searching: Search) -> None:
    failed = Reply({"search_metadata": {"status": "Error"}, "error": f"out of searches: {KEY}"})
    with ScriptedWeb(lambda _: failed) as scripted, pytest.raises(ServiceFault, match="out of searches: •••"):
        searching("serpapi", scripted.url, patience_s=0.1)[1].search("rates", count=3)


def test_markup_of_a_provider_is_removed(searching: Search) -> None:
    marked = [Hit("A &amp; <b>B</b>", "https://example.org", "<strong>3</strong> &lt; 4, 5 < 6")]
    with ScriptedWeb(pages(web.brave, marked)) as scripted:
        [hit] = searching("brave", scripted.url)[1].search("x", count=3)
    assert (hit.title, hit.snippet) == ("A & B", "3 < 4, 5 < 6")


def test_a_snapshot_answers_without_the_provider(searching: Search) -> None:
    with ScriptedWeb(pages(web.brave, HITS)) as scripted:
        searching("brave", scripted.url, snapshot="autumn")[1].search("rates", count=3)
    replaying = {"snapshot": "autumn", "mode": "replay-only", "key": ""}
    desk, services = searching("brave", scripted.url, **replaying)
    assert services.search(" rates", count=3) == HITS[:3]
    assert desk.counts.calls == 0
    for words, count in (("rates", 2), ("others", 3)):
        with pytest.raises(ServiceFault, match="AGENT2_SEARCH_MODE"):
            services.search(words, count=count)
    with pytest.raises(ServiceFault, match="snapshot has no answer"):
        searching("brave", scripted.url, **{**replaying, "snapshot": "winter"})[1].search("rates", count=3)


def test_a_copied_snapshot_answers_as_well(searching: Search, tmp_path: Path) -> None:
    with ScriptedWeb(pages(web.tavily, HITS)) as scripted:
        searching("tavily", scripted.url, snapshot="one")[1].search("rates", count=3)
    (tmp_path / "search" / "one").rename(tmp_path / "search" / "two")
    _, services = searching("tavily", PUBLIC_URLS["tavily"], snapshot="two", mode="replay-only")
    assert services.search("rates", count=3) == HITS[:3]


def test_words_are_normalised_to_what_every_provider_takes() -> None:
    assert normalised(" Ｆｕｌｌ\u00a0width\x00\u200b\n words ") == "Full width words"
    assert len(normalised("word " * 80).split()) == 50
    assert len(normalised("x" * 1000)) == 400


@pytest.mark.parametrize("query", ["", " \n", "\x00"])
def test_no_words_are_no_search(searching: Search, query: str) -> None:
    with ScriptedWeb(pages(web.brave, HITS)) as scripted:
        with pytest.raises(ServiceFault, match="words"):
            searching("brave", scripted.url)[1].search(query, count=3)
        assert scripted.seen == []
