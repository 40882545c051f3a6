"""DuckDuckGo's Instant Answer API (api.duckduckgo.com/api): abstracts and related topics, no list of web results.

Most questions get nothing from it. It is what the reference benchmark asks where it has no key.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.tasks.services_contract import Hit
from grading.outside.search.backend import Nonsense, Request, plain


@dataclass(frozen=True)
class DuckDuckGo:
    url: str

    def request(self, query: str, count: int) -> Request:
        asked = {"q": query, "format": "json", "no_html": "1", "skip_disambig": "1", "no_redirect": "1"}
        return Request("GET", f"{self.url}/", {"params": asked})

    def read(self, told: Mapping[str, Any]) -> Sequence[Hit]:
        if not isinstance(told.get("RelatedTopics"), list) or "AbstractText" not in told:
            raise Nonsense("The search answered without AbstractText and RelatedTopics")
        hits = []
        if plain(told["AbstractText"]) and isinstance(told.get("AbstractURL"), str):
            hits.append(Hit(plain(told.get("Heading")), told["AbstractURL"], plain(told["AbstractText"])))
        return hits + list(_topics(told.get("Results"))) + list(_topics(told["RelatedTopics"]))


def _topics(rows: Any) -> Iterator[Hit]:
    """Topics, and those within groups of topics."""
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict):
            continue
        if "Topics" in row:
            yield from _topics(row["Topics"])
        elif isinstance(row.get("FirstURL"), str):
            text = plain(row.get("Text"))
            yield Hit(title=text.partition(" - ")[0], url=row["FirstURL"], snippet=text)
