"""What a purchase is worth (Yao et al. 2022, section 3.2, as the code computes it).

reward = r_type · (attributes met + options met + [price ≤ limit]) / (attributes + options + 1)
"""

from collections.abc import Mapping
from dataclasses import dataclass

from .catalogue import Product
from .goals import Goal
from .matching import basic_colour, similar, wanted_option

SAME_CATEGORIES = 2
"""So many shared levels make two products of one kind."""


@dataclass(frozen=True)
class Reward:
    """A purchase's value in 0..1 and what it consists of."""

    total: float
    kind: float
    """r_type: 1 for the same kind of product, 0.5, 0.1 or 0 for others."""
    attributes: int
    options: int
    price: bool


def reward(bought: Product, chosen: Mapping[str, str], goal: Goal, wanted: Product) -> Reward:
    """Of buying `bought` with the `chosen` options (name to value), where `wanted` is the goal's own product."""
    kind = kind_reward(bought, wanted)
    attributes = attributes_met(bought, goal)
    options = options_met(chosen, goal)
    price = bought.price <= goal.price_upper
    share = (attributes + options + price) / (len(goal.attributes) + len(goal.options) + 1)
    return Reward(share * kind, kind, attributes, options, price)


def kind_reward(bought: Product, wanted: Product) -> float:
    """r_type: by the collecting query, shared category levels, and the share of the wanted title's nouns."""
    nouns = set(bought.title_nouns) & set(wanted.title_nouns)
    share = len(nouns) / len(wanted.title_nouns) if wanted.title_nouns else 0.2
    if share == 0:
        return 0.0
    if share < 0.1:
        return 0.1
    levels = _levels(bought) & _levels(wanted)
    return 1.0 if bought.query == wanted.query or len(levels) >= SAME_CATEGORIES or share > 0.2 else 0.5


def attributes_met(bought: Product, goal: Goal) -> int:
    """How many wanted attributes the product lists, or mentions in its title, features or description."""
    texts = (bought.title.lower(), " ".join(bought.features).lower(), bought.description.lower())
    return sum(
        any(similar(own, wanted) for own in bought.attributes) or any(wanted in text for text in texts)
        for wanted in goal.attributes
    )


def options_met(chosen: Mapping[str, str], goal: Goal) -> int:
    """How many wanted options are like one of the chosen values."""
    values = [basic_colour(value) for value in chosen.values()]
    return sum(
        any(similar(value, wanted_option(name, wanted)) for value in values) for name, wanted in goal.options.items()
    )


def _levels(product: Product) -> set[str]:
    return {level.strip() for level in product.product_category.split("›")}
