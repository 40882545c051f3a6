"""The numbers that the original environment gives, with scripted shoppers on the first 100 goals."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import pytest

from benchmark.tasks.contract import Item
from benchmark.tasks.webshop.evaluator import WebShop
from benchmark.tasks.webshop.sources import read_sources
from benchmark.tasks.webshop.webshop_env import Goal, Session, Shop

from .conftest import FolderSource
from .playing import first_hit, play_all


def _reward(shop: Shop, goal: Goal, asin: str, options: dict[str, str]) -> float:
    """Of searching for the request, turning pages to the product, choosing and buying."""
    session = Session(shop, goal)
    session.step(f"search[{goal.instruction}]")
    before = [product.asin for product in shop.find(goal.instruction.lower())].index(asin)
    for _ in range(before // 10):
        session.step("click[next >]")
    assert session.step(f"click[{asin}]").valid
    for value in options.values():
        assert session.step(f"click[{value}]").valid
    assert session.chosen == options
    worth = session.step("click[Buy Now]").reward
    assert worth is not None
    return worth.total


def _hit_options(shop: Shop, goal: Goal) -> tuple[str, dict[str, str]]:
    product = shop.find(goal.instruction.lower())[0]
    wanted = goal.instruction.lower()
    found = {name: value for name, values in product.options.items() for value in values if value in wanted}
    return product.asin, found


def _summary(rewards: Sequence[float]) -> tuple[int, int, float]:
    return sum(r >= 0.5 for r in rewards), sum(r == 1 for r in rewards), round(fmean(rewards), 3)


def test_first_hit(items: Sequence[Item]) -> None:
    metrics = WebShop().metrics(play_all(items, first_hit))
    assert metrics.score == 79
    assert metrics.extra["perfect_percent"] == 4
    assert metrics.extra["mean_reward"] == pytest.approx(59.3, abs=0.05)
    assert metrics.extra["mean_steps"] == 3
    assert metrics.extra["invalid_action_percent"] == 0
    assert metrics.extra["bought_percent"] == 100
    assert metrics.extra["standard_error"] == pytest.approx(4.073, abs=0.001)


def test_options_named_in_the_instruction(shop: Shop, goals: Sequence[Goal]) -> None:
    rewards = [_reward(shop, goal, *_hit_options(shop, goal)) for goal in goals]
    assert _summary(rewards) == (87, 57, 0.806)


def test_right_product_without_options(shop: Shop, goals: Sequence[Goal]) -> None:
    rewards = [_reward(shop, goal, goal.asin, {}) for goal in goals]
    assert _summary(rewards)[:2] == (100, 5)


def test_oracle(shop: Shop, goals: Sequence[Goal]) -> None:
    rewards = [_reward(shop, goal, goal.asin, dict(goal.options)) for goal in goals]
    assert _summary(rewards) == (100, 97, 0.995)


def test_how_many_goals_there_are(webshop_files: Path, goals: Sequence[Goal]) -> None:
    """6,910 from 415 products, of which 100 are graded; people's own requests fall on 13 products only."""
    listings, _ = read_sources(FolderSource(webshop_files))
    asked = [listing for listing in listings if listing.request is not None]
    of_each = [math.prod(len(values) for values in listing.options.values()) for listing in asked]
    assert (len(listings), len(asked), sum(of_each)) == (1000, 415, 6910)
    assert {goal.id for goal in goals} == {f"goal-{number:04d}" for number in range(100)}
    human = json.loads((webshop_files / "items_human_ins.subset_of_1000.json").read_text(encoding="utf-8"))
    assert len(human) == 13
    assert human.keys() <= {listing.asin for listing in listings}


def test_goals_equal_the_recorded_ones(goals: Sequence[Goal], shop: Shop, webshop_files: Path) -> None:
    lines = (webshop_files / "goals_first100.seed233.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(goals) == 100
    for goal, recorded in zip(goals, map(json.loads, lines), strict=True):
        product = shop.products[goal.asin]
        assert goal.id == f"goal-{recorded['idx']:04d}"
        assert (goal.instruction, goal.asin, goal.price_upper) == (
            recorded["instruction_text"],
            recorded["asin"],
            recorded["price_upper"],
        )
        assert (list(goal.attributes), goal.options) == (recorded["attributes"], recorded["goal_options"])
        assert (product.title, product.query, product.category, product.product_category) == (
            recorded["name"],
            recorded["query"],
            recorded["category"],
            recorded["product_category"],
        )
    assert len({goal.asin for goal in goals}) == 56
