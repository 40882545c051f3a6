"""Answers an evaluator's searches: from the snapshot, else from the backend."""

import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from benchmark.tasks.services_contract import Hit
from grading.outside.provider import Counts, ProviderFault
from grading.outside.route import HandlerRoute
from grading.outside.search.backend import Backend
from grading.outside.store import AnswerStore

PATH = "/search"
QUERY_CHARS, QUERY_WORDS = 400, 50
"""The most that every provider takes."""
MOST = 20

Mode = Literal["record", "replay-only"]
"""Whether what the snapshot lacks is asked for, or is a fault."""


class SearchDesk:
    """Answers `{"query": …, "count": …}` with `{"hits": [{"title", "url", "snippet"}, …]}`.

    Only whole answers are kept, so a fault is never remembered as an empty page.
    """

    def __init__(
        self,
        backend: Backend,
        snapshot: AnswerStore,
        mode: Mode,
        counts: Counts,
        closing: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._backend = backend
        self._snapshot = snapshot
        self._mode = mode
        self._closing = closing
        self.counts = counts

    def route(self) -> HandlerRoute:
        return HandlerRoute(PATH, self, self._closing)

    async def __call__(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raises: ProviderFault; ValueError: these are no words, or no number of hits."""
        query, count = asked.get("query"), asked.get("count")
        if not isinstance(query, str) or not (words := normalised(query)):
            raise ValueError("a search has words in `query`")
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
            raise ValueError(f"`count` is a number from 1 to {MOST}")
        key = {"backend": self._backend.identity, "query": words, "count": count}
        stored = self._snapshot.get(key)
        if stored is not None:
            self.counts.cache_hits += 1
            return stored
        if self._mode == "replay-only":
            raise ProviderFault(
                f"The snapshot has no answer to the search {words!r}, and AGENT2_SEARCH_MODE=replay-only asks nobody. "
                f"Set AGENT2_SEARCH_MODE=record to ask {self._backend.identity}",
                passing=False,
            )
        return self._snapshot.put(key, {"hits": _as_json(await self._backend.search(words, count))})

    def versions(self) -> dict[str, str]:
        return {"search": self._backend.identity}

    def metrics(self) -> dict[str, float | None]:
        return {
            "search_calls": self.counts.calls,
            "search_cache_hits": self.counts.cache_hits,
            "search_retries": self.counts.retries,
        }


def normalised(query: str) -> str:
    """The words as they are asked and kept: one form of each character, single spaces, no more than providers take."""
    plain = "".join(
        " " if unicodedata.category(letter)[0] in "CZ" else letter for letter in unicodedata.normalize("NFKC", query)
    )
    return " ".join(plain.split()[:QUERY_WORDS])[:QUERY_CHARS].strip()


def _as_json(hits: Sequence[Hit]) -> list[dict[str, str]]:
    return [asdict(hit) for hit in hits]
