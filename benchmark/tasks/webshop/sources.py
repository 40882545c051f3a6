"""WebShop's published files: their names, digests and addresses, and products as they lie in them."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.tasks.data_contract import DataSource, DataUnavailable

MIRROR = "https://huggingface.co/datasets/YWZBrandon/webshop-data/resolve/ce990fff5aee388db2706f07820c578ab68e0453/"
"""Copies with the digests of the files that princeton-nlp/WebShop's setup.sh fetches from Google Drive, where a sign-in
may be asked for."""
PRODUCTS = "items_shuffle_1000.json"
PRODUCTS_SHA256 = "30a4765c3a327af72d9a9a95a6b2486d516f0fa1d3ecd83681901ce82a21b269"
REBUILT = "items_shuffle_1000.reconstructed.json"
REBUILT_SHA256 = "0f7700a9d29d98ae5f8a4c795d769668eb99b72d7205c11ed0216dc754e367db"
"""The same products with fewer unused fields, accepted from an operator's folder."""
INSTRUCTIONS = "items_ins_v2_1000.json"
INSTRUCTIONS_SHA256 = "f88a36314a397b53b3d9c3fa5878e5f7b26d35019a51ec83fbedeca61a948f6f"
DEFAULT_PRICE = 100.0
NO_ATTRIBUTES = ("DUMMY_ATTR",)


@dataclass(frozen=True)
class Listing:
    """One product of the published file, read as WebShop reads it."""

    asin: str
    title: str
    description: str
    features: tuple[str, ...]
    pricing: tuple[float, ...]
    """One price, or the ends of a range, dollars."""
    options: Mapping[str, tuple[str, ...]]
    attributes: tuple[str, ...]
    category: str
    query: str
    product_category: str
    request: str | None
    """The generated request without options and price; None where the product has none."""
    request_attributes: tuple[str, ...]

    @property
    def price_tag(self) -> str:
        return " to ".join(f"${price}" for price in self.pricing)


def read_sources(source: DataSource) -> tuple[list[Listing], dict[str, str]]:
    """The products in the published order, and the digest of each file they came from.

    Raises: DataUnavailable: a file is missing, or not the published one.
    """
    products = _products_file(source)
    instructions = source.file(INSTRUCTIONS, sha256=INSTRUCTIONS_SHA256, url=MIRROR + INSTRUCTIONS)
    more: Mapping[str, Any] = json.loads(instructions.read_text(encoding="utf-8"))
    rows: Sequence[Mapping[str, Any]] = json.loads(products.read_text(encoding="utf-8"))
    listings: dict[str, Listing] = {}
    for row in rows:
        if _has_asin(row) and row["asin"] not in listings:
            listings[row["asin"]] = _listing(row, more.get(row["asin"], {}))
    return list(listings.values()), {path.name: _sha256(path) for path in (products, instructions)}


def _products_file(source: DataSource) -> Path:
    try:
        return source.file(PRODUCTS, sha256=PRODUCTS_SHA256, url=MIRROR + PRODUCTS)
    except DataUnavailable as missing:
        try:
            return source.file(REBUILT, sha256=REBUILT_SHA256, url="")
        except DataUnavailable:
            raise missing from None


def _has_asin(row: Mapping[str, Any]) -> bool:
    return row["asin"] != "nan" and len(row["asin"]) <= 10


def _listing(row: Mapping[str, Any], more: Mapping[str, Any]) -> Listing:
    features = row["small_description"]
    return Listing(
        asin=row["asin"],
        title=row["name"],
        description=row["full_description"],
        features=tuple(features) if isinstance(features, list) else (features,),
        pricing=_pricing(row.get("pricing")),
        options=_options(row["customization_options"] or {}),
        attributes=tuple(more.get("attributes", NO_ATTRIBUTES)),
        category=row["category"],
        query=row["query"].lower().strip(),
        product_category=row["product_category"],
        request=more.get("instruction"),
        request_attributes=tuple(more.get("instruction_attributes", ())),
    )


def _pricing(written: str | None) -> tuple[float, ...]:
    """The first two prices in a text such as `$9.99$12.99`."""
    if not written:
        return (DEFAULT_PRICE,)
    return tuple(float(re.sub(r"[^\d.]", "", price)) for price in written.split("$")[1:])[:2]


def _options(written: Mapping[str, Sequence[Mapping[str, Any]] | None]) -> dict[str, tuple[str, ...]]:
    return {
        name.lower(): tuple(value["value"].strip().replace("/", " | ").lower() for value in values)
        for name, values in written.items()
        if values is not None
    }


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
