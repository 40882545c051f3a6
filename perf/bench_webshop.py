"""How fast the web shop is: building, searching, steps per second, and whole graded episodes without a model.

    AGENT2_TASK_WEBSHOP_DIR=/folder/with/the/files python -m perf.bench_webshop

Times are processor time, so that other work on the machine does not count.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmark.tasks.contract import Completion
from benchmark.tasks.data_contract import DataTarget, DataUnavailable
from benchmark.tasks.webshop import data
from benchmark.tasks.webshop.evaluator import WebShop
from benchmark.tasks.webshop.webshop_env import Session, Shop, read_goals
from benchmark.tasks.webshop.webshop_env.catalogue import read_products

SETTING = "AGENT2_TASK_WEBSHOP_DIR"


class Folder:
    """A `DataSource` that has what lies in the folder of `SETTING`."""

    def file(self, name: str, *, sha256: str | None, url: str) -> Path:
        path = Path(os.environ[SETTING]) / name
        if not path.is_file():
            raise DataUnavailable(f"{path} is missing; it comes from {url}")
        return path


def timed(what: str, times: int, work: Callable[[], object]) -> None:
    """Print the milliseconds for each of the `times` things that `work` does."""
    start = time.process_time()
    work()
    each = 1000 * (time.process_time() - start) / times
    print(f"{what:<44} {each:9.3f} ms   {1000 / each:9.1f} /s")


def visit(session: Session) -> int:
    """A visit that sees every kind of page; the number of steps."""
    product = session.shop.find(session.goal.instruction.lower())[0]
    sub_pages = [f"click[{label}]" for name in ("description", "features", "reviews") for label in (name, "< prev")]
    options = [f"click[{values[0]}]" for values in product.options.values()]
    actions = [
        f"search[{session.goal.instruction}]",
        "click[next >]",
        "click[< prev]",
        f"click[{product.asin}]",
        *sub_pages,
        *options,
        "click[buy now]",
    ]
    assert all(session.step(action).valid for action in actions)
    return len(actions)


def episodes(held_out: Path) -> None:
    """All 100 episodes of the evaluator with a checkpoint that never buys: 5,000 prompts."""
    evaluator = WebShop()
    for item in evaluator.items(held_out):
        episode = evaluator.episode(item)
        next(episode)
        try:
            for number in range(60):
                action = ("search[red shoes]", "click[next >]", "nonsense")[number % 3]
                episode.send(Completion(action, 5, "stop"))
        except StopIteration:
            continue


def main() -> None:
    if SETTING not in os.environ:
        sys.exit(f"{SETTING} must name the folder with WebShop's files")
    with tempfile.TemporaryDirectory() as name:
        target = DataTarget(visible=Path(name) / "visible", held_out=Path(name) / "held_out")
        target.visible.mkdir()
        target.held_out.mkdir()
        timed("prepare the task's data", 1, lambda: data.prepare(target, Folder()))
        products = read_products(target.held_out / "products.jsonl")
        goals = read_goals(target.held_out / "goals.jsonl")
        timed("build the shop, first time", 1, lambda: Shop(products))
        shop = Shop(products)
        timed("search, a request as the words", len(goals), lambda: [shop.find(g.instruction.lower()) for g in goals])
        steps = sum(visit(Session(shop, goal)) for goal in goals)
        timed("step, every kind of page, searches cached", steps, lambda: [visit(Session(shop, g)) for g in goals])
        timed("graded step with its prompt, building included", 5000, lambda: episodes(target.held_out))


if __name__ == "__main__":
    main()
