"""The shop and its goals from the published listings: every draw of chance pinned.

WebShop draws the price of each product that has a range, then a price limit for each product with a request, and only
then seeds its generator with 233 to shuffle the goals. Here the draws before the shuffle are seeded with 233 as well.
"""

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmark.tasks.webshop.sources import Listing
from benchmark.tasks.webshop.webshop_env.catalogue import Product
from benchmark.tasks.webshop.webshop_env.goals import Goal

SEED = 233
HELD_OUT_GOALS = 100
TRAIN_GOALS = 1500
"""So few that what is missing among a product's options does not tell which of them are held out."""
PRICE_LIMITS = tuple(10.0 * tens for tens in range(1, 100))
LIMITS_ABOVE = 4
"""A limit is the larger of two of the first four limits above the price."""
NO_LIMIT = 1_000_000.0
TITLE_NOUNS = Path(__file__).with_name("title_nouns.tsv")
"""Per product the nouns and names (NOUN, PROPN) of its title, tagged by spaCy 3.8 with en_core_web_sm 3.8.0."""


@dataclass(frozen=True)
class Made:
    """Everything that is laid out for the task."""

    products: list[Product]
    held_out: list[Goal]
    train: list[Goal]


def make(listings: Sequence[Listing]) -> Made:
    """Products with prices, the first 100 goals, and train goals that share no request with them."""
    chance = random.Random(SEED)  # noqa: S311 — reproducible, not secret
    # The recorded list of goals that this protocol pins was drawn when one word of the stream had been used.
    chance.getrandbits(32)
    prices = {listing.asin: _price(listing, chance) for listing in listings}
    goals = [goal for listing in listings for goal in _goals(listing, prices[listing.asin], chance)]
    random.Random(SEED).shuffle(goals)  # noqa: S311
    numbered = [replace(goal, id=f"goal-{number:04d}") for number, goal in enumerate(goals)]
    held_out, others = numbered[:HELD_OUT_GOALS], numbered[HELD_OUT_GOALS:]
    known = {request_of(goal) for goal in held_out}
    train = [goal for goal in others if request_of(goal) not in known][:TRAIN_GOALS]
    return Made(_products(listings, prices), held_out, train)


def request_of(goal: Goal) -> str:
    """A goal's instruction without its price limit."""
    return goal.instruction.partition(", and price lower than ")[0]


def _price(listing: Listing, chance: random.Random) -> float:
    return listing.pricing[0] if len(listing.pricing) == 1 else chance.uniform(*listing.pricing)


def _goals(listing: Listing, price: float, chance: random.Random) -> Iterator[Goal]:
    """One goal, not numbered yet, for each choice of options; all of a product share the limit."""
    if listing.request is None:
        return
    above = [limit for limit in PRICE_LIMITS if limit > price][:LIMITS_ABOVE]
    limit = max(chance.sample(above, 2)) if len(above) >= 2 else NO_LIMIT
    names = sorted(listing.options)
    for values in itertools.product(*(listing.options[name] for name in names)):
        options = dict(zip(names, values, strict=True))
        instruction = listing.request + _options_text(options) + _limit_text(limit)
        yield Goal("", instruction, listing.asin, listing.request_attributes, options, limit)


def _options_text(options: Mapping[str, str]) -> str:
    return " with " + ", and ".join(f"{name}: {value}" for name, value in options.items()) if options else ""


def _limit_text(limit: float) -> str:
    return f", and price lower than {limit:.2f} dollars" if limit != NO_LIMIT else ""


def _products(listings: Sequence[Listing], prices: Mapping[str, float]) -> list[Product]:
    nouns = dict(line.split("\t") for line in TITLE_NOUNS.read_text(encoding="utf-8").splitlines())
    return [
        Product(
            asin=listing.asin,
            title=listing.title,
            description=listing.description,
            features=listing.features,
            price_tag=listing.price_tag,
            price=prices[listing.asin],
            options=listing.options,
            attributes=listing.attributes,
            category=listing.category,
            query=listing.query,
            product_category=listing.product_category,
            title_nouns=tuple(nouns[listing.asin].split()),
        )
        for listing in listings
    ]
