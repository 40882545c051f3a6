"""The shop's products, as `products.jsonl` holds them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Product:
    """One product. Option names and values are lower case, as the pages show them."""

    asin: str
    """Ten characters, upper case."""
    title: str
    description: str
    features: tuple[str, ...]
    price_tag: str
    """As shown: `$9.99` or `$5.0 to $12.5`."""
    price: float
    """What the purchase costs, dollars; drawn once for products with a range."""
    options: Mapping[str, tuple[str, ...]]
    attributes: tuple[str, ...]
    category: str
    query: str
    """The search that the product was collected with: its narrow kind, lower case."""
    product_category: str
    """From wide to narrow, joined by `›`."""
    title_nouns: tuple[str, ...]
    """The title's nouns and names, lower case, with repetitions."""

    @property
    def searchable(self) -> str:
        """The text that is indexed."""
        options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in self.options.items())
        first_feature = self.features[0] if self.features else ""
        return " ".join((self.title, self.description, first_feature, options)).lower()

    def as_json(self) -> str:
        """One line of `products.jsonl`."""
        return json.dumps(asdict(self), ensure_ascii=False)


def read_products(path: Path) -> list[Product]:
    """Every product of a `products.jsonl`, in the catalogue's order."""
    return [_product(json.loads(line)) for line in path.read_text(encoding="utf-8").split("\n") if line]


def write_products(path: Path, products: Sequence[Product]) -> None:
    path.write_text("".join(product.as_json() + "\n" for product in products), encoding="utf-8")


def _product(row: Mapping[str, Any]) -> Product:
    lists = ("features", "attributes", "title_nouns")
    options = {name: tuple(values) for name, values in row["options"].items()}
    return Product(**{**row, **{key: tuple(row[key]) for key in lists}, "options": options})
