"""Lay out WebShop: the shop, a library that runs it and train goals are visible; the first 100 goals are held out."""

import json
import shutil
from pathlib import Path

from benchmark.tasks.data_contract import DataSource, DataTarget, DataUnavailable
from benchmark.tasks.webshop.making import Made, make
from benchmark.tasks.webshop.sources import MIRROR, read_sources
from benchmark.tasks.webshop.webshop_env.catalogue import write_products
from benchmark.tasks.webshop.webshop_env.goals import write_goals

FOLDER = Path(__file__).parent
LIBRARY = FOLDER / "webshop_env"
VISIBLE = FOLDER / "visible"


def prepare(target: DataTarget, source: DataSource) -> None:
    """Write products and goals to both folders, and the library and its guide to the visible one.

    Raises: DataUnavailable: a published file is missing or other than expected.
    """
    try:
        listings, digests = read_sources(source)
        made = make(listings)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataUnavailable(f"WebShop's files cannot be read ({error!r}). Fetch them anew from {MIRROR}.") from error
    _check(made)
    for folder in (target.visible, target.held_out):
        write_products(folder / "products.jsonl", made.products)
        (folder / "sources.json").write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")
    write_goals(target.held_out / "goals.jsonl", made.held_out)
    write_goals(target.visible / "train_goals.jsonl", made.train)
    shutil.copytree(LIBRARY, target.visible / LIBRARY.name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in (*VISIBLE.glob("*.*"), FOLDER / "requirements.txt"):
        shutil.copyfile(file, target.visible / file.name)


def _check(made: Made) -> None:
    shared = {goal.instruction for goal in made.train} & {goal.instruction for goal in made.held_out}
    if shared:
        raise ValueError(f"{len(shared)} held-out requests would be visible, such as {min(shared)}")
