"""What the shopper sees: each page as text parts, joined by ` [SEP] ` as in WebShop's text mode, and its labels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .catalogue import Product

SEPARATOR = " [SEP] "
PAGE_SIZE = 10
BACK_TO_SEARCH, PREVIOUS, NEXT, BUY = "Back to Search", "< Prev", "Next >", "Buy Now"
DESCRIPTION, FEATURES, REVIEWS, ATTRIBUTES = "Description", "Features", "Reviews", "Attributes"
SUB_PAGES = (DESCRIPTION, FEATURES, REVIEWS, ATTRIBUTES)
Kind = Literal["search", "results", "item", "sub_page", "done"]
_SPACES = " \t\n\r\f"


@dataclass(frozen=True)
class Page:
    """One page: its text and the labels that can be clicked, lower case."""

    kind: Kind
    text: str
    labels: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    """The labels that choose an option, each with the option's name."""


def search_page(instruction: str) -> Page:
    """Where a session begins. Its `Search` button does nothing without words, so it is no label."""
    return Page("search", _text(["WebShop", "Instruction:", instruction, "Search"]))


def results_page(instruction: str, found: Sequence[Product], number: int) -> Page:
    """Page `number`, from 1, of what a search has found. There is always a next page, if an empty one."""
    shown = found[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
    buttons = [BACK_TO_SEARCH, *([PREVIOUS] if number > 1 else []), NEXT]
    parts = [*_head(instruction), BACK_TO_SEARCH, f"Page {number} (Total results: {len(found)})", *buttons[1:]]
    for product in shown:
        parts += [product.asin, product.title, product.price_tag]
    return Page("results", _text(parts), _labels([*buttons, *(product.asin for product in shown)]))


def item_page(instruction: str, product: Product, *, show_attributes: bool) -> Page:
    """A product with its options. Which are chosen is not shown."""
    more = SUB_PAGES if show_attributes else SUB_PAGES[:-1]
    parts = [*_head(instruction), BACK_TO_SEARCH, PREVIOUS]
    for name, values in product.options.items():
        parts += [name, *values]
    parts += [product.title, f"Price: {product.price_tag}", "Rating: N.A.", *more, BUY]
    options = {value: name for name, values in product.options.items() for value in values}
    buttons = _labels([BACK_TO_SEARCH, PREVIOUS, *more, BUY])
    return Page("item", _text(parts), tuple(dict.fromkeys([*buttons, *options])), options)


def sub_page(instruction: str, product: Product, label: str) -> Page:
    """One of the product's `SUB_PAGES`. The catalogue has no reviews."""
    parts = [*_head(instruction), BACK_TO_SEARCH, PREVIOUS]
    if label == DESCRIPTION:
        parts.append(product.description)
    elif label == FEATURES:
        parts += [f" {feature}" for feature in product.features]
    elif label == ATTRIBUTES:
        parts += [f" {attribute}" for attribute in product.attributes]
        parts += [product.category, product.query, product.product_category]
    return Page("sub_page", _text(parts), _labels([BACK_TO_SEARCH, PREVIOUS]))


def done_page(reward: float) -> Page:
    """After the purchase."""
    return Page("done", _text(["Thank you for shopping with us!", "Your score (min 0.0, max 1.0)", str(reward)]))


def _head(instruction: str) -> list[str]:
    return ["Instruction:", instruction]


def _labels(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)


def _text(parts: Iterable[str]) -> str:
    """The parts that a browser's text would hold: empty ones are not there, blank ones without a line end are."""
    return SEPARATOR.join(part.strip() for part in parts if part and (part.strip(_SPACES) or "\n" not in part))
