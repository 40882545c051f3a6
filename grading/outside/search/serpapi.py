"""SerpApi's Google search (serpapi.com/search-api, serpapi.com/search-errors)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmark.tasks.services_contract import Hit
from grading.outside.search.backend import Nonsense, Request, hits_in, plain


@dataclass(frozen=True)
class SerpApi:
    url: str
    key: str = field(repr=False)

    def request(self, query: str, count: int) -> Request:
        asked = {"engine": "google", "q": query, "num": str(count), "api_key": self.key}
        return Request("GET", f"{self.url}/search.json", {"params": asked})

    def read(self, told: Mapping[str, Any]) -> Sequence[Hit]:
        if "organic_results" in told:
            return hits_in(told["organic_results"], title="title", url="link", snippet="snippet")
        about = told.get("search_metadata")
        done = isinstance(about, dict) and about.get("status") == "Success"
        # A search that found nothing is a success that carries an `error` to that effect.
        if done and isinstance(told.get("search_information"), dict):
            return []
        raise Nonsense(f"The search failed: {plain(told.get('error'))[:200] or 'it has no organic_results'}")
