"""Fuzzy matches give thefuzz 0.19's decisions; purchases are worth what WebShop says."""

from dataclasses import replace

import pytest

from benchmark.tasks.webshop.webshop_env import Goal, reward
from benchmark.tasks.webshop.webshop_env.catalogue import Product
from benchmark.tasks.webshop.webshop_env.matching import COLOURS, basic_colour, similar, wanted_option
from benchmark.tasks.webshop.webshop_env.reward import kind_reward

SHOE = Product(
    asin="B000000001",
    title="Trail Running Shoe",
    description="With a Memory Foam sole.",
    features=("Machine washable",),
    price_tag="$20.0",
    price=20.0,
    options={"color": ("dark red", "blue"), "size": ("9", "10")},
    attributes=("arch support",),
    category="fashion",
    query="men's running shoes",
    product_category="Clothing › Men › Shoes",
    title_nouns=("trail", "running", "shoe"),
)
GOAL = Goal(
    id="g",
    instruction="Find me shoes",
    asin=SHOE.asin,
    attributes=("arch support", "memory foam"),
    options={"color": "blue", "size": "9"},
    price_upper=30.0,
)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("machine wash", "machine washable", True),
        ("anti slip", "slip anti", True),
        ("9", "('size', '9')", True),
        ("black", "('color', 'black_style_99464')", False),
        ('160x100\xa0cm (65"x39.5")', "('size', '160x100\\xa0cm (65\"x39.5\")')", False),
        ("é", "e", False),
        ("", "", False),
        ("", "red", False),
    ],
)
def test_similar(left: str, right: str, expected: bool) -> None:
    assert similar(left, right) is expected


def test_basic_colours() -> None:
    assert len(COLOURS) == 102
    assert basic_colour("steelivy fuchsia") == "fuchsia"
    assert basic_colour("violet lavender") == "lavender"
    assert basic_colour("123alabaster") == "alabaster"
    assert basic_colour("webshop") == "webshop"
    assert wanted_option("color", "blue") == "blue"
    assert wanted_option("color", "dark blue") == "('color', 'dark blue')"


def test_everything_met() -> None:
    worth = reward(SHOE, {"color": "blue", "size": "9"}, GOAL, SHOE)
    assert (worth.total, worth.kind, worth.attributes, worth.options, worth.price) == (1.0, 1.0, 2, 2, True)


@pytest.mark.parametrize(
    ("chosen", "price", "met"),
    [({}, 20.0, 3), ({"color": "blue"}, 20.0, 4), ({"color": "blue"}, 30.0, 4), ({}, 30.01, 2)],
)
def test_what_is_missing_costs_its_share(chosen: dict[str, str], price: float, met: int) -> None:
    assert reward(replace(SHOE, price=price), chosen, GOAL, SHOE).total == met / 5


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, 1.0),
        ({"title_nouns": ("hat",)}, 0.0),
        ({"query": "other", "product_category": "x"}, 1.0),
        ({"query": "other", "product_category": "x", "title_nouns": ("shoe",)}, 1.0),
    ],
)
def test_kind(changes: dict[str, object], kind: float) -> None:
    assert kind_reward(replace(SHOE, **changes), SHOE) == kind  # type: ignore[arg-type]


def test_kind_by_share_of_nouns() -> None:
    wanted = replace(SHOE, title_nouns=tuple("abcdefghijk"))
    other = replace(SHOE, query="other", product_category="Clothing › Women", title_nouns=("a",))
    assert kind_reward(other, wanted) == 0.1
    assert kind_reward(replace(other, title_nouns=("a", "b")), wanted) == 0.5
    assert kind_reward(replace(other, title_nouns=("a", "b", "c")), wanted) == 1.0
    assert kind_reward(replace(other, query=SHOE.query, title_nouns=("a", "b")), wanted) == 1.0
    categories = replace(other, product_category="Shoes › Men", title_nouns=("a", "b"))
    assert kind_reward(categories, wanted) == 1.0
    assert kind_reward(other, replace(wanted, title_nouns=())) == 0.5
