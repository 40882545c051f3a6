"""An instance of SearXNG (docs.searxng.org/dev/search_api.html); its settings must list `json` in `search.formats`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.tasks.services_contract import Hit
from grading.outside.search.backend import Nonsense, Request, hits_in


@dataclass(frozen=True)
class SearXNG:
    url: str

    def request(self, query: str, count: int) -> Request:
        return Request("GET", f"{self.url}/search", {"params": {"q": query, "format": "json"}})

    def read(self, told: Mapping[str, Any]) -> Sequence[Hit]:
        hits = hits_in(told.get("results"), title="title", url="url", snippet="content")
        if not hits and (silent := told.get("unresponsive_engines")):
            # Engines that are blocked or slow leave an empty page, which says nothing about the words.
            raise Nonsense(f"The search's engines did not answer: {str(silent)[:200]}")
        return hits
