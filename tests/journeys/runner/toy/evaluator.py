"""A task of one or more turns: the checkpoint is asked, answers, is asked again with everything said so far."""

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

from benchmark.tasks.contract import Episode, Item, Metrics, Outcome, Prompt, Record, Turn

DELAY_S = float(os.environ.get("TOY_DELAY_S", "0"))


class Toy:
    protocol = "toy/1"

    def items(self, held_out: Path) -> Sequence[Item]:
        rows = map(json.loads, (held_out / "items.jsonl").read_text().splitlines())
        return [Item(row["id"], row) for row in rows]

    def episode(self, item: Item) -> Episode:
        said: tuple[Turn, ...] = (Turn("system", "Answer in few words, please."),)
        length = 0
        for number in range(item.payload["turns"]):
            time.sleep(DELAY_S)
            said += (Turn("user", f"{item.payload['ask']} {number}?"),)
            stop = ("e",) if number % 2 else ()
            completion = yield Prompt(max_tokens=12, messages=said, stop=stop)
            said += (Turn("assistant", completion.text or "nothing"),)
            length += len(completion.text)
        return Outcome(reward=float(length % 2), answer=str(length), facts={"turns": item.payload["turns"]})

    def metrics(self, records: Sequence[Record]) -> Metrics:
        return Metrics(100 * sum(r.reward for r in records) / len(records), {"none": None})


def evaluator() -> Toy:
    return Toy()
