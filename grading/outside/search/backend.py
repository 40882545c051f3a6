"""What a search backend is, and how one of them is asked over HTTP."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from benchmark.tasks.services_contract import Hit
from grading.outside.provider import MASK, Provider, ProviderFault

WORDS_REFUSED = frozenset({400, 414, 422})
CONTROL = "weather"
_TAG = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)


class Nonsense(ProviderFault):
    """A provider's answer is not of the documented shape, or says that the search failed."""


class Backend(Protocol):
    """Searches; one for an evaluation."""

    identity: str
    """What decides the results beside the words: answers are kept under it."""

    async def search(self, query: str, count: int) -> Sequence[Hit]:
        """At most `count` hits, best first; none only where nothing was found. Raises: ProviderFault."""
        ...


@dataclass(frozen=True)
class Request:
    """One HTTP request; `options` are those of `httpx.AsyncClient.request`."""

    method: str
    url: str
    options: Mapping[str, Any] = field(default_factory=dict)


class Vendor(Protocol):
    """How one provider's API is asked and read."""

    def request(self, query: str, count: int) -> Request: ...

    def read(self, told: Mapping[str, Any]) -> Sequence[Hit]:
        """Every hit in an answer. Raises: Nonsense."""
        ...


class OverHttp:
    """Implements `Backend` for a vendor. `hint` says what to look at when the provider refuses for good."""

    def __init__(self, identity: str, vendor: Vendor, provider: Provider, hint: str) -> None:
        self.identity = identity
        self._vendor = vendor
        self._provider = provider
        self._hint = hint

    async def search(self, query: str, count: int) -> Sequence[Hit]:
        request = self._vendor.request(query, count)
        try:
            told = await self._provider.ask(request.method, request.url, check=self._check, **request.options)
        except ProviderFault as fault:
            if fault.status in WORDS_REFUSED and query != CONTROL:
                # Words that a provider does not take find nothing, but only if it takes others.
                await self.search(CONTROL, count)
                return []
            raise ProviderFault(f"{fault}{'' if fault.passing else self._hint}", passing=fault.passing) from None
        return self._vendor.read(told)[:count]

    def _check(self, told: Mapping[str, Any]) -> None:
        try:
            self._vendor.read(told)
        except Nonsense as error:
            text = str(error)
            for secret in filter(None, self._provider.secrets):
                text = text.replace(secret, MASK)
            raise ProviderFault(text) from None


def hits_in(rows: Any, *, title: str, url: str, snippet: str) -> list[Hit]:
    """Hits from a list of objects with these keys; rows without an address are passed over.

    Raises: Nonsense: it is no list of objects, or none of its rows has an address.
    """
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Nonsense("The search answered without a list of results")
    hits = [
        Hit(title=plain(row.get(title)), url=str(row[url]), snippet=plain(row.get(snippet)))
        for row in rows
        if isinstance(row.get(url), str) and row[url]
    ]
    if rows and not hits:
        raise Nonsense("The search answered with results that have no address")
    return hits


def plain(value: Any) -> str:
    """A text without HTML tags and entities; empty where it is none."""
    return html.unescape(_TAG.sub("", value)) if isinstance(value, str) else ""
