"""Tavily's search (docs.tavily.com/api-reference/endpoint/search)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmark.tasks.services_contract import Hit
from grading.outside.search.backend import Request, hits_in

MOST = 20


@dataclass(frozen=True)
class Tavily:
    url: str
    key: str = field(repr=False)

    def request(self, query: str, count: int) -> Request:
        asked = {"query": query, "max_results": min(count, MOST), "search_depth": "basic"}
        return Request(
            "POST", f"{self.url}/search", {"json": asked, "headers": {"Authorization": f"Bearer {self.key}"}}
        )

    def read(self, told: Mapping[str, Any]) -> Sequence[Hit]:
        return hits_in(told.get("results"), title="title", url="url", snippet="content")
