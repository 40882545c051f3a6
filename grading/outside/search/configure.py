"""From settings to a search desk, with one line for what is missing."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from grading.outside.provider import Counts, Provider
from grading.outside.search.backend import Backend, OverHttp, Vendor
from grading.outside.search.brave import Brave
from grading.outside.search.corpus import BadCorpus, Corpus, corpus_files
from grading.outside.search.desk import Mode, SearchDesk
from grading.outside.search.duckduckgo import DuckDuckGo
from grading.outside.search.searxng import SearXNG
from grading.outside.search.serpapi import SerpApi
from grading.outside.search.tavily import Tavily
from grading.outside.store import AnswerStore

PUBLIC_URLS = {
    "serpapi": "https://serpapi.com",
    "brave": "https://api.search.brave.com",
    "tavily": "https://api.tavily.com",
    "duckduckgo": "https://api.duckduckgo.com",
}
NEED_KEY = ("serpapi", "brave", "tavily")
BACKENDS = ("serpapi", "brave", "tavily", "searxng", "duckduckgo", "corpus")
SNAPSHOT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class SearchNotConfigured(Exception):
    """The settings name no search that can be asked; the message says what to set."""


@dataclass(frozen=True)
class SearchSettings:
    """How the web is searched. `url` is the API's address where it is not the public one; for `corpus` a path."""

    backend: str = ""
    url: str = ""
    key: str = field(default="", repr=False)
    snapshot: str = "default"
    mode: str = "record"
    concurrency: int = 4
    timeout_s: float = 30.0
    patience_s: float = 300.0


def check_search(settings: SearchSettings) -> None:
    """Raises: SearchNotConfigured."""
    if settings.backend not in BACKENDS:
        raise SearchNotConfigured(f"Set AGENT2_SEARCH_BACKEND to one of {', '.join(BACKENDS)}.")
    if settings.mode not in get_args(Mode):
        raise SearchNotConfigured(f"AGENT2_SEARCH_MODE={settings.mode!r} must be one of {', '.join(get_args(Mode))}.")
    if not SNAPSHOT.fullmatch(settings.snapshot):
        raise SearchNotConfigured(
            f"AGENT2_SEARCH_SNAPSHOT={settings.snapshot!r} must be a name of letters, digits, '.', '_' and '-'."
        )
    if settings.backend == "corpus":
        _check_corpus(settings)
    elif not settings.url and settings.backend not in PUBLIC_URLS:
        raise SearchNotConfigured(f"Set AGENT2_SEARCH_URL to the address of your {settings.backend} instance.")
    # What was recorded is read without a key.
    if settings.backend in NEED_KEY and not settings.key and settings.mode == "record":
        raise SearchNotConfigured(f"Set AGENT2_SEARCH_KEY to your key for {settings.backend}.")


def open_search(settings: SearchSettings, store: Path) -> SearchDesk:
    """The desk of one evaluation; snapshots are folders in `store`. Raises: SearchNotConfigured."""
    check_search(settings)
    snapshot = AnswerStore(store / settings.snapshot)
    mode: Mode = "replay-only" if settings.mode == "replay-only" else "record"
    if settings.backend == "corpus":
        counts = Counts()
        return SearchDesk(_corpus(settings, counts), snapshot, mode, counts)
    provider = Provider(
        f"The search ({settings.backend})",
        timeout_s=settings.timeout_s,
        patience_s=settings.patience_s,
        concurrency=settings.concurrency,
        secrets=(settings.key,),
    )
    backend = OverHttp(settings.backend, _vendor(settings), provider, _hint(settings))
    return SearchDesk(backend, snapshot, mode, provider.counts, provider.close)


def _vendor(settings: SearchSettings) -> Vendor:
    url = (settings.url or PUBLIC_URLS[settings.backend]).rstrip("/")
    match settings.backend:
        case "serpapi":
            return SerpApi(url, settings.key)
        case "brave":
            return Brave(url, settings.key)
        case "tavily":
            return Tavily(url, settings.key)
        case "searxng":
            return SearXNG(url)
        case _:
            return DuckDuckGo(url)


def _hint(settings: SearchSettings) -> str:
    if settings.backend in NEED_KEY:
        return " Look at AGENT2_SEARCH_KEY and at the account it belongs to."
    if settings.backend == "searxng":
        return " Look at AGENT2_SEARCH_URL, and for `json` in search.formats of the instance's settings.yml."
    return " Look at AGENT2_SEARCH_URL."


def _corpus(settings: SearchSettings, counts: Counts) -> Backend:
    try:
        return Corpus(Path(settings.url), counts)
    except BadCorpus as error:
        raise SearchNotConfigured(f"AGENT2_SEARCH_URL: {error}") from error


def _check_corpus(settings: SearchSettings) -> None:
    if not settings.url:
        raise SearchNotConfigured("Set AGENT2_SEARCH_URL to a .jsonl file of documents, or a folder of them.")
    try:
        corpus_files(Path(settings.url))
    except BadCorpus as error:
        raise SearchNotConfigured(f"AGENT2_SEARCH_URL: {error}") from error
