"""Brave's web search (api-dashboard.search.brave.com/api-reference/web/search/get)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmark.tasks.services_contract import Hit
from grading.outside.search.backend import Nonsense, Request, hits_in

MOST = 20


@dataclass(frozen=True)
class Brave:
    url: str
    key: str = field(repr=False)

    def request(self, query: str, count: int) -> Request:
        asked = {"q": query, "count": str(min(count, MOST)), "text_decorations": "false"}
        headers = {"X-Subscription-Token": self.key, "Accept": "application/json"}
        return Request("GET", f"{self.url}/res/v1/web/search", {"params": asked, "headers": headers})

    def read(self, told: Mapping[str, Any]) -> Sequence[Hit]:
        if told.get("type") != "search":
            raise Nonsense("The search answered with something that is not of type `search`")
        # `web` is left out when nothing was found.
        web = told.get("web", {"results": []})
        if not isinstance(web, dict):
            raise Nonsense("The search answered without web results")
        return hits_in(web.get("results"), title="title", url="url", snippet="description")
