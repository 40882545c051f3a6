"""One provider over HTTP, asked patiently: what may pass is repeated, what will not is told at once."""

import asyncio
import email.utils
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_before_delay, wait_random_exponential

from benchmark.gateway.tls import trusted

MASK = "•••"
PASSING = frozenset({408, 409, 425, 429})
"""With every 5xx, the answers that another attempt may not get."""
TOLD_CHARACTERS = 300


class ProviderFault(Exception):
    """The provider gave no usable answer. `passing`: asking again may help. `after_s`: what its Retry-After says.

    `status` is the HTTP status of its answer, None where there was none.
    """

    def __init__(
        self, message: str, *, passing: bool = True, after_s: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.passing, self.after_s, self.status = passing, after_s, status


@dataclass
class Counts:
    """What one evaluation asked of one provider."""

    calls: int = 0
    """Answered by the provider, and so paid for."""
    cache_hits: int = 0
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass
class Provider:
    """An HTTP client for one provider: bounded concurrency, a time limit for each attempt, patience for all together.

    `secrets` never occur in what a fault says.
    """

    name: str
    timeout_s: float
    patience_s: float
    concurrency: int
    secrets: tuple[str, ...] = field(default=(), repr=False)
    transport: httpx.AsyncBaseTransport | None = None
    counts: Counts = field(default_factory=Counts)

    def __post_init__(self) -> None:
        self._client = httpx.AsyncClient(timeout=self.timeout_s, transport=self.transport, verify=trusted())
        self._room = asyncio.Semaphore(self.concurrency)

    async def close(self) -> None:
        await self._client.aclose()

    async def ask(
        self, method: str, url: str, *, check: Callable[[Mapping[str, Any]], None] | None = None, **options: Any
    ) -> Mapping[str, Any]:
        """The JSON object of a 2xx answer; `options` are those of `httpx.AsyncClient.request`.

        `check` raises ProviderFault for an object that is no answer, such as an error told with status 200.

        Raises: ProviderFault: refused, or still no answer after `patience_s`.
        """
        # Who waits keeps its place: a provider that asks for a pause is asked less by everybody.
        async with self._room:
            attempts = AsyncRetrying(
                retry=retry_if_exception(lambda error: isinstance(error, ProviderFault) and error.passing),
                wait=_pause,
                stop=stop_before_delay(self.patience_s),
                before_sleep=self._count_retry,
                reraise=True,
            )
            told: Mapping[str, Any] = await attempts(self._attempt, method, url, check, options)
        self.counts.calls += 1
        return told

    async def _attempt(
        self, method: str, url: str, check: Callable[[Mapping[str, Any]], None] | None, options: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        try:
            # httpx limits each read; a provider that trickles must end too.
            async with asyncio.timeout(self.timeout_s):
                answer = await self._client.request(method, url, **options)
        except TimeoutError:
            raise ProviderFault(f"{self.name} did not answer within {self.timeout_s:g} s") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise ProviderFault(f"{self.name} has no usable address: {self._masked(error)}", passing=False) from None
        except httpx.HTTPError as error:
            raise ProviderFault(f"{self.name} cannot be reached: {self._masked(error)}") from None
        if answer.is_success:
            told = self._object(answer)
            if check is not None:
                check(told)
            return told
        passing = answer.status_code in PASSING or answer.status_code >= 500
        raise ProviderFault(
            f"{self.name} answered {answer.status_code}: {self._masked(answer.text)}",
            passing=passing,
            after_s=retry_after_s(answer.headers.get("retry-after", ""), datetime.now(UTC)),
            status=answer.status_code,
        )

    def _object(self, answer: httpx.Response) -> Mapping[str, Any]:
        try:
            told = answer.json()
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise ProviderFault(f"{self.name} answered with no JSON object: {self._masked(answer.text)}")
        return told

    def _masked(self, text: object) -> str:
        whole = " ".join(str(text).split()) or type(text).__name__
        for secret in filter(None, self.secrets):
            whole = whole.replace(secret, MASK)
        return whole[:TOLD_CHARACTERS]

    def _count_retry(self, _: RetryCallState) -> None:
        self.counts.retries += 1


def retry_after_s(header: str, now: datetime) -> float | None:
    """Seconds named by a Retry-After header: a number or an HTTP date (RFC 9110, 10.2.3). None: neither."""
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, (email.utils.parsedate_to_datetime(header) - now).total_seconds())
    except (ValueError, TypeError):
        return None


_backing_off = wait_random_exponential(multiplier=0.5, max=30)


def _pause(state: RetryCallState) -> float:
    """At least what the provider asks for, and longer from attempt to attempt, at random."""
    error = state.outcome.exception() if state.outcome else None
    asked = getattr(error, "after_s", None) or 0.0
    return float(asked) + _backing_off(state)


def canonical(value: Any) -> bytes:
    """The one JSON text of a value: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
