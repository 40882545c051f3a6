"""One shopper's visit: a page, actions that lead to other pages, and a purchase that ends it."""

from dataclasses import dataclass

from .actions import parse_action
from .catalogue import Product
from .goals import Goal
from .pages import (
    BACK_TO_SEARCH,
    BUY,
    NEXT,
    PREVIOUS,
    SUB_PAGES,
    Page,
    done_page,
    item_page,
    results_page,
    search_page,
    sub_page,
)
from .reward import Reward, reward
from .shop import Shop

SUB_PAGE_LABELS = {label.lower(): label for label in SUB_PAGES}


@dataclass(frozen=True)
class Step:
    """What an action led to."""

    page: Page
    valid: bool
    """False: it was no action, or nothing on the page has that label. Nothing has changed."""
    reward: Reward | None = None
    """Set when the action was the purchase: the visit is over."""


class Session:
    """A visit for one goal. `page` is where the shopper is."""

    def __init__(self, shop: Shop, goal: Goal, *, show_attributes: bool = False) -> None:
        self.shop = shop
        self.goal = goal
        self.page = search_page(goal.instruction)
        self._show_attributes = show_attributes
        self._words = ""
        self._number = 1
        self._product: Product | None = None
        self._chosen: dict[str, str] = {}

    @property
    def over(self) -> bool:
        return self.page.kind == "done"

    @property
    def bought(self) -> str | None:
        """The asin of the purchase, None before it."""
        return self._product.asin if self.over and self._product else None

    @property
    def chosen(self) -> dict[str, str]:
        """The options chosen on the item page so far, by name."""
        return dict(self._chosen)

    @property
    def possible(self) -> tuple[str, ...]:
        """The actions that the page offers. A search is understood on every page, though offered on the first only."""
        searching = ("search[your words]",) if self.page.kind == "search" else ()
        return searching + tuple(f"click[{label}]" for label in self.page.labels)

    def step(self, text: str) -> Step:
        """Do what `text` says. Raises: ValueError: the visit is over."""
        if self.over:
            raise ValueError("the visit is over")
        action = parse_action(text)
        if action is None:
            return Step(self.page, valid=False)
        if action.name == "search":
            return self._results(action.argument, 1)
        if action.argument not in self.page.labels:
            return Step(self.page, valid=False)
        return self._click(action.argument)

    def _click(self, label: str) -> Step:
        if label == BACK_TO_SEARCH.lower():
            return self._go(search_page(self.goal.instruction))
        if label == NEXT.lower():
            return self._results(self._words, self._number + 1)
        if label == PREVIOUS.lower():
            return self._back()
        if self._product is None:
            return self._item(self.shop.products[label.upper()])
        return self._click_on_item(label, self._product)

    def _click_on_item(self, label: str, product: Product) -> Step:
        if label == BUY.lower():
            return self._buy(product)
        if label in SUB_PAGE_LABELS:
            return self._go(sub_page(self.goal.instruction, product, SUB_PAGE_LABELS[label]))
        self._chosen[self.page.options[label]] = label
        return self._item(product)

    def _back(self) -> Step:
        if self.page.kind == "sub_page" and self._product is not None:
            return self._item(self._product)
        return self._results(self._words, self._number - (self.page.kind == "results"))

    def _results(self, words: str, number: int) -> Step:
        """Leaving for the results forgets the product and its chosen options."""
        self._words, self._number = words, number
        self._product, self._chosen = None, {}
        return self._go(results_page(self.goal.instruction, self.shop.find(words), number))

    def _item(self, product: Product) -> Step:
        self._product = product
        return self._go(item_page(self.goal.instruction, product, show_attributes=self._show_attributes))

    def _buy(self, product: Product) -> Step:
        earned = reward(product, self._chosen, self.goal, self.shop.products[self.goal.asin])
        self.page = done_page(earned.total)
        return Step(self.page, valid=True, reward=earned)

    def _go(self, page: Page) -> Step:
        self.page = page
        return Step(page, valid=True)
