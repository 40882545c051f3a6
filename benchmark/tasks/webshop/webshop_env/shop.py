"""A catalogue with its search: built once, shared by all sessions, never changed by them."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from .catalogue import Product, read_products
from .index import Index

FOUND = 50
"""A search finds at most so many products."""


class Shop:
    """Products by asin, and by search."""

    def __init__(self, products: Sequence[Product]) -> None:
        self.products = {product.asin: product for product in products}
        self._order = tuple(products)
        self._index = Index([product.searchable for product in products])
        self._find = lru_cache(maxsize=4096)(self._search)

    @classmethod
    def open(cls, folder: Path) -> "Shop":
        """The shop of `folder/products.jsonl`; takes about a second."""
        return cls(read_products(folder / "products.jsonl"))

    def find(self, words: str) -> tuple[Product, ...]:
        """The best matches, best first."""
        return self._find(words)

    def _search(self, words: str) -> tuple[Product, ...]:
        return tuple(self._order[position] for position, _ in self._index.search(words, FOUND))
