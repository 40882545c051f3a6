"""Collect trajectories in the web shop with a simple scripted shopper, as chat messages with the grader's prompts.

    python data/collect.py --goals 100 --out trajectories.jsonl

Put your model in `answer`'s place to collect its own. Each line of the output is one visit: the messages of its last
step (earlier steps are in `steps`), its reward, and its number of steps.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import webshop_env  # type: ignore[import-not-found]  # noqa: E402


def answer(messages: Sequence[dict[str, str]], session: webshop_env.Session) -> str:
    """What the shopper writes. This one searches for the request, takes the first product and its named options."""
    labels = session.page.labels
    if session.page.kind == "search":
        return f"search[{session.goal.instruction}]"
    if session.page.kind == "item":
        wanted = session.goal.instruction.lower()
        named = [v for v, name in session.page.options.items() if v in wanted and name not in session.chosen]
        return f"click[{named[0] if named else 'buy now'}]"
    products = [label for label in labels if label not in ("back to search", "< prev", "next >")]
    return f"click[{products[0] if products else 'back to search'}]"


def visit(shop: webshop_env.Shop, goal: webshop_env.Goal) -> dict[str, Any]:
    """Play one goal as the grader plays it."""
    session = webshop_env.Session(shop, goal)
    earlier: list[tuple[str, str]] = []
    steps: list[list[dict[str, str]]] = []
    worth = 0.0
    while not session.over and len(steps) < webshop_env.MAX_STEPS:
        asked = webshop_env.user_message(
            request=goal.instruction,
            earlier=earlier,
            page=session.page.text,
            possible=session.possible,
            number=len(steps) + 1,
        )
        messages = [{"role": "system", "content": webshop_env.SYSTEM}, {"role": "user", "content": asked}]
        action = webshop_env.read_action(answer(messages, session))
        earlier.append((session.page.text, action))
        step = session.step(action)
        worth = step.reward.total if step.reward else 0.0
        steps.append([*messages, {"role": "assistant", "content": action}])
    return {"goal": goal.id, "reward": worth, "messages": steps[-1], "steps": steps}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--goals", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("trajectories.jsonl"))
    chosen = parser.parse_args()
    shop = webshop_env.Shop.open(HERE)
    goals = webshop_env.read_goals(HERE / "train_goals.jsonl")[: chosen.goals]
    rows = [visit(shop, goal) for goal in goals]
    chosen.out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    mean = sum(row["reward"] for row in rows) / len(rows)
    sys.stdout.write(f"{len(rows)} visits, mean reward {mean:.3f}\n")


if __name__ == "__main__":
    main()
