"""What one run has used of its provider, and whether the provider still answers.

Written by the gateway's thread, read by the one that watches the run. The log has one line for each request: never what
was asked or answered.
"""

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from benchmark.gateway.prices import Price, price_of
from benchmark.gateway.usage import Usage

LOG_BYTES_MOST, TEXT_MOST = 64 << 20, 2000
"""Of one run, some 200,000 requests; characters of one text in a line."""

TOO_LONG_MOST, TOO_LONG_S = 30, 1800.0
"""So many conversations that were too long, within so many seconds: shortening them does not help the agent on."""

Kind = Literal["auth", "rate_limited", "context", "refused", "error", "unreachable", "cut"]


@dataclass(frozen=True)
class Trouble:
    """Requests have failed since `since` (`time.monotonic()`), the last one as `kind` says, at `last`."""

    kind: Kind
    detail: str
    since: float
    last: float
    times: int = 1


@dataclass(frozen=True)
class Spent:
    """Sums of one run."""

    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    """None as soon as one request had no price."""
    requests: int = 0
    failures: int = 0


class Ledger:
    """The accounts of one run. Limits of None: no limit; `usd_most` needs prices for every model."""

    def __init__(
        self,
        prices: Mapping[str, Price],
        *,
        tokens_most: int | None = None,
        usd_most: float | None = None,
        log_path: Path | None = None,
        spent: Spent | None = None,
        by_model: Mapping[str, int] | None = None,
    ) -> None:
        """`spent` and `by_model`: what another worker has counted of the same run."""
        self.tokens_most, self.usd_most = tokens_most, usd_most
        self._prices, self._log_path = prices, log_path
        self._lock = threading.Lock()
        self._spent = spent or Spent()
        self._trouble: Trouble | None = None
        self._refused_since: float | None = None
        self._log_full = False
        self._too_long: deque[float] = deque(maxlen=TOO_LONG_MOST)
        self._by_model: Counter[str] = Counter(by_model or {})

    def spent(self) -> Spent:
        with self._lock:
            return self._spent

    def by_model(self) -> dict[str, int]:
        """Tokens by model."""
        with self._lock:
            return dict(self._by_model)

    def trouble(self) -> Trouble | None:
        """None while the last request that was to generate something was answered."""
        with self._lock:
            return self._trouble

    def always_too_long(self) -> bool:
        """Whether the provider refuses one conversation after the other as too long.

        Some agents shorten theirs and begin again for ever: what they ask in between is answered, so that there is no
        trouble that lasts.
        """
        with self._lock:
            times = self._too_long
            return len(times) == TOO_LONG_MOST and times[-1] - times[0] < TOO_LONG_S

    def used_up(self) -> Literal["", "tokens", "money"]:
        """Which budget is used up."""
        spent = self.spent()
        if self.tokens_most is not None and spent.usage.total >= self.tokens_most:
            return "tokens"
        if self.usd_most is not None and (spent.cost_usd is None or spent.cost_usd >= self.usd_most):
            return "money"
        return ""

    def refused_for_s(self) -> float:
        """Seconds since the first request that was refused for the budget's sake."""
        with self._lock:
            return 0.0 if self._refused_since is None else time.monotonic() - self._refused_since

    def refuse(self) -> None:
        with self._lock:
            self._refused_since = self._refused_since or time.monotonic()

    def answered(self, model: str, usage: Usage | None) -> float | None:
        """A request was answered in full. Returns its cost in dollars, None where unknown."""
        with self._lock:
            self._trouble = None
            return self._count(model, usage)

    def failed(self, kind: Kind, detail: str, *, model: str = "", usage: Usage | None = None) -> None:
        """A request failed, although a part of the answer may have come and been charged."""
        now = time.monotonic()
        with self._lock:
            before = self._trouble
            self._trouble = Trouble(
                kind, detail[:500], before.since if before else now, now, before.times + 1 if before else 1
            )
            if kind == "context":
                self._too_long.append(now)
            self._count(model, usage)
            self._spent = replace(self._spent, failures=self._spent.failures + 1)

    def _count(self, model: str, usage: Usage | None) -> float | None:
        told = usage or Usage()
        price = price_of(model, self._prices)
        cost = 0.0 if not told.total else price.cost(told) if price else None
        known = self._spent.cost_usd
        self._spent = replace(
            self._spent,
            usage=self._spent.usage + told,
            cost_usd=None if known is None or cost is None else known + cost,
            requests=self._spent.requests + 1,
        )
        if told.total:
            self._by_model[model] += told.total
        return cost

    def write(self, **entry: Any) -> None:
        """Append one request to the log while there is room in it; else a last line says so."""
        if self._log_path is None or self._log_full:
            return
        line = _line(entry)
        with self._lock, self._log_path.open("a", encoding="utf-8") as log:
            if log.tell() + len(line) > LOG_BYTES_MOST:
                self._log_full = True
                line = _line({"error": "The log is full: further requests are counted and not listed."})
            log.write(line)


def _line(entry: Mapping[str, Any]) -> str:
    """ASCII. What an agent wrote, such as a model's name, may be long."""
    short = {name: value[:TEXT_MOST] if isinstance(value, str) else value for name, value in entry.items()}
    return json.dumps({"at": datetime.now(UTC).isoformat(timespec="milliseconds"), **short}) + "\n"
