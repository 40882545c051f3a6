"""Runs in an agent's sandbox: plays training items with a policy that fits the task, and prints the trajectories.

`player.py N` plays the first N items, four at a time.
"""

import json
import os
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from rollouts import NoServices, Prompt, items, play  # type: ignore[import-not-found]

DATA = Path(os.environ["DATA_PATH"])


def adds(prompt: Prompt) -> str:
    left, right = prompt.text.rstrip("=").split("+")
    return f"{int(left) + int(right)}\nand more"


def solves_problems(prompt: Prompt) -> str:
    rows = map(json.loads, (DATA / "train.jsonl").read_text().splitlines())
    known = {row["question"]: row["answer"].rpartition("#### ")[2] for row in rows}
    asked = prompt.messages[-1]["content"].removeprefix("Question: ").partition("\nLet's think")[0]
    return f"The answer is {known[asked]}"


def programs(prompt: Prompt) -> str:
    rows = map(json.loads, (DATA / "train.jsonl").read_text().splitlines())
    return next(str(row["canonical_solution"]) for row in rows if row["prompt"] in prompt.messages[-1]["content"])


def shops(prompt: Prompt) -> str:
    asked = prompt.messages[-1]["content"]
    possible = asked.rpartition("Possible actions:")[2]
    if "click[buy now]" in possible:
        return "Action: click[buy now]"
    products = re.findall(r"click\[b0\w+\]", possible)
    return products[0] if products else f"search[{asked.partition('Request: ')[2].splitlines()[0]}]"


def lives(prompt: Prompt) -> str:
    """Plays the game's walkthrough, one command for each step taken."""
    with zipfile.ZipFile(DATA / "train.zip") as games:
        walkthrough = json.loads(games.read(f"{prompt.item}/game.tw-pddl"))["walkthrough"]
    return str(walkthrough[prompt.text.rpartition("Now your task.")[2].count("\n> ")])


def researches(prompt: Prompt) -> str:
    if "Observation:" in prompt.text:
        return " I know it now.\nAction: answer[86]"
    return " I look it up.\nAction: search[certiorari denials December 15]"


POLICIES: dict[str, Callable[[Prompt], str]] = {
    "arithmetic": adds,
    "gsm8k": solves_problems,
    "humaneval": programs,
    "webshop": shops,
    "alfworld": lives,
    "deepsearchqa": researches,
}
chosen = items()[: int(sys.argv[1])]
policy = POLICIES[os.environ["TASK"]]
calls: list[int] = []


def generate(prompts: list[Prompt]) -> list[str]:
    calls.append(len(prompts))
    return [policy(prompt) for prompt in prompts]


try:
    played = [trajectory.as_dict() for trajectory in play(generate, chosen, at_a_time=4)]
except NoServices as missing:
    sys.exit(str(missing))
print("RESULT " + json.dumps({"played": played, "calls": calls}))
