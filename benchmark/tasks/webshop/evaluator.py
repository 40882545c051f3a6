"""Grade `webshop`: 100 visits to the shop, at most 50 steps each, a success where the purchase is worth 0.5 or more."""

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmark.tasks.contract import Episode, Item, Metrics, Outcome, Prompt, Record, Turn

from .webshop_env import MAX_STEPS, MAX_TOKENS, STOP, SYSTEM, Session, Shop, read_action, read_goals, user_message

SUCCESS = 0.5
SHOWN_CHARS = 4000
"""Of a page, as far as a prompt can show it, in an episode's record."""


class WebShop:
    """Protocol `webshop/2`."""

    protocol = "webshop/2"

    def items(self, held_out: Path) -> Sequence[Item]:
        return _visits(held_out, "goals.jsonl")

    def train_items(self, visible: Path) -> Sequence[Item]:
        return _visits(visible, "train_goals.jsonl")

    def episode(self, item: Item) -> Episode:
        """Whatever raises in the shop is the grader's fault. What the checkpoint wrote is in the record's outputs."""
        session = Session(item.payload["shop"], item.payload["goal"])
        earlier: list[tuple[str, str]] = []
        steps: list[dict[str, Any]] = []
        for number in range(1, MAX_STEPS + 1):
            completion = yield _prompt(session, earlier, number)
            action = read_action(completion.text)
            seen = session.page
            step = session.step(action)
            earlier.append((seen.text, action))
            shown = {"page": seen.kind, "shown": seen.text[:SHOWN_CHARS], "sha256": _short_hash(seen.text)}
            steps.append({**shown, "action": action, "valid": step.valid})
            if step.reward is not None:
                worth = step.reward
                parts = {"kind": worth.kind, "attributes": worth.attributes, "options": worth.options}
                bought = {"bought": session.bought, "chosen": session.chosen, **parts, "price": worth.price}
                return Outcome(worth.total, answer=session.bought, facts={"steps": steps, **bought})
        return Outcome(0.0, facts={"steps": steps, "bought": None})

    def metrics(self, records: Sequence[Record]) -> Metrics:
        """Shares in percent. Standard error: 100 · sqrt(p (1 − p) / n), in points, of the success rate."""
        n = len(records)
        rewards = [record.reward for record in records]
        success = sum(reward >= SUCCESS for reward in rewards) / n
        steps = [step for record in records for step in record.facts["steps"]]
        return Metrics(
            score=100 * success,
            extra={
                "standard_error": 100 * math.sqrt(success * (1 - success) / n),
                "mean_reward": 100 * fmean(rewards),
                "perfect_percent": 100 * sum(reward == 1 for reward in rewards) / n,
                "bought_percent": 100 * sum(record.facts["bought"] is not None for record in records) / n,
                "mean_steps": len(steps) / n,
                "invalid_action_percent": 100 * sum(not step["valid"] for step in steps) / len(steps),
            },
        )


def _visits(folder: Path, goals: str) -> list[Item]:
    shop = Shop.open(folder)
    return [Item(id=goal.id, payload={"shop": shop, "goal": goal}) for goal in read_goals(folder / goals)]


def _prompt(session: Session, earlier: Sequence[tuple[str, str]], number: int) -> Prompt:
    asked = user_message(
        request=session.goal.instruction,
        earlier=earlier,
        page=session.page.text,
        possible=session.possible,
        number=number,
    )
    return Prompt(max_tokens=MAX_TOKENS, messages=(Turn("system", SYSTEM), Turn("user", asked)), stop=STOP)


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def evaluator() -> WebShop:
    return WebShop()
