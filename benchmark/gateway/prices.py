"""What tokens cost. A model without a price has an unknown cost, never a free one."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from benchmark.gateway.usage import Usage

SHIPPED = Path(__file__).with_name("prices.yaml")
PER = 1_000_000


class BadPrices(Exception):
    """A file of prices is not what it should be; the message says what is."""


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens of each kind."""

    input: float
    output: float
    cached: float
    written: float
    above: float = math.inf
    """A request that reads more tokens than that costs what `long` says."""
    long: "Price | None" = None

    def cost(self, usage: Usage) -> float:
        """US dollars of one request."""
        if self.long is not None and usage.total - usage.output > self.above:
            return self.long.cost(usage)
        parts = ("input", "output", "cached", "written")
        return float(sum(getattr(usage, part) * getattr(self, part) for part in parts) / PER)


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of that model, or of the longest listed name that it is a dated version of."""
    fitting = [name for name in prices if model == name or model.startswith(f"{name}-20")]
    return prices[max(fitting, key=len)] if fitting else None


@cache
def prices_read(own: Path | None = None) -> Mapping[str, Price]:
    """The shipped list prices, with an operator's own over them. Raises: BadPrices."""
    return {name: price for path in (SHIPPED, own) if path is not None for name, price in _read(path).items()}


def _read(path: Path) -> dict[str, Price]:
    try:
        told = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise BadPrices(f"{path} cannot be read: {error}") from error
    if not isinstance(told, dict):
        raise BadPrices(f"{path} must map models to prices.")
    return {str(model): _price(path, str(model), given) for model, given in told.items()}


def _price(path: Path, model: str, given: Any) -> Price:
    try:
        long = given.get("long")
        read, said = float(given["input"]), float(given["output"])
        parts = (read, said, float(given.get("cached", read)), float(given.get("written", read)))
        return Price(*parts, above=float(long["above"]), long=_price(path, model, long)) if long else Price(*parts)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadPrices(f"{path}: {model} needs `input` and `output`, dollars for a million tokens.") from None
