"""Episodes played together against one at a time, the runner against its engine alone, and the same twice.

    python -m perf.bench_rollouts --data FOLDER [--engine vllm] [--python .venv-vllm/bin/python] [--checkpoint FOLDER]

FOLDER holds one folder of source files for each task (alfworld, webshop, gsm8k). What is measured:

- alfworld, webshop, deepsearchqa: the same episodes, engine and checkpoint, one at a time and many at once. Searches
  and judgements take a fixed time. Words come from a policy (perf/rollouts/tasks.py); tokens are generated. Webshop
  once more with a window of earlier steps that moves at each step.
- gsm8k: the runner with all items in flight against the engine alone on the same list of prompts; at least 85 % of the
  engine's tokens a second is the aim. Then once more: how many items have the same text both times (float32).

Each is measured in a process of its own. Without a checkpoint a random one is made. The defaults take under ten minutes
on two cores.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmark.tasks.data_contract import DataUnavailable
from perf.rollouts.measuring import Asked, every_nth
from perf.rollouts.random_checkpoint import random_checkpoint
from perf.rollouts.tasks import Bounds, lay_out, opened

INTERACTIVE = ("alfworld", "webshop", "deepsearchqa")
AIM = 0.85


class Failed(Exception):
    """A measurement could not be made, such as where the interpreter lacks a package of the task."""


@dataclass(frozen=True)
class Options:
    """The command line."""

    data: Path
    checkpoint: Path | None
    engine: str
    python: str
    tasks: list[str]
    episodes: int
    at_a_time: int
    steps: int
    tokens: int
    problems: int


def options() -> Options:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--engine", choices=["transformers", "vllm"], default="transformers")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with the engine")
    parser.add_argument("--tasks", nargs="+", choices=[*INTERACTIVE, "gsm8k"], default=[*INTERACTIVE, "gsm8k"])
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--at-a-time", type=int, default=16)
    parser.add_argument("--steps", type=int, default=5, help="of an episode at most; webshop's are three times as many")
    parser.add_argument("--tokens", type=int, default=24, help="of an action at most")
    parser.add_argument("--problems", type=int, default=64, help="of gsm8k, with eight times the tokens")
    return Options(**vars(parser.parse_args()))


def measured(asked: Asked, python: str, folder: Path) -> dict[str, Any]:
    """One measurement in a process of its own, printed as a line. Raises: Failed."""
    path = folder / "asked.json"
    path.write_text(json.dumps(asdict(asked)))
    command = [python, "-m", "perf.rollouts.measuring", str(path)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    if done.returncode:
        raise Failed((done.stderr.strip() or "no output").splitlines()[-1])
    told: dict[str, Any] = json.loads(done.stdout)
    seconds = told["seconds"]
    print(
        f"{asked.task:13} {asked.way:9} {seconds:8.1f} s {told['episodes'] * 60 / seconds:9.1f} episodes/min"
        f" {told['prompts'] / seconds:8.2f} prompts/s {told['tokens'] / seconds:9.1f} tokens/s"
        + (
            f" {told['read_tokens']:.0f} of {told['prompt_tokens']:.0f} prompt tokens read"
            if "read_tokens" in told
            else ""
        ),
        flush=True,
    )
    return told


def same(one: dict[str, Any], other: dict[str, Any]) -> str:
    """How many items have the same outputs in both."""
    equal = sum(other["outputs"].get(item) == digest for item, digest in one["outputs"].items())
    return f"{equal} of {len(one['outputs'])} items have the same texts"


def bench(task: str, asked: Asked, python: str, folder: Path) -> None:
    if task in INTERACTIVE:
        alone = measured(replace(asked, way="alone"), python, folder)
        together = measured(replace(asked, way="together"), python, folder)
        ratio = alone["seconds"] / together["seconds"]
        print(f"{task:13} {asked.at_a_time} at a time are {ratio:.1f} times as fast; {same(alone, together)}\n")
        if task == "webshop":
            against_moving_window(asked, together, python, folder)
        return
    alone = measured(replace(asked, way="engine"), python, folder)
    first, second = (measured(replace(asked, way="together"), python, folder) for _ in range(2))
    share = (first["tokens"] / first["seconds"]) / (alone["tokens"] / alone["seconds"])
    met = "met" if share >= AIM else "missed"
    print(f"{task:13} the runner reaches {share:.0%} of its engine alone (aim {AIM:.0%}: {met})")
    print(f"{task:13} twice with one checkpoint: {same(first, second)}\n", flush=True)


def against_moving_window(asked: Asked, blocks: dict[str, Any], python: str, folder: Path) -> None:
    """What it brings that webshop's earlier steps leave the prompt in blocks."""
    moving = measured(replace(asked, way="together", moving_window=True), python, folder)
    longer = moving["seconds"] / blocks["seconds"]
    more = moving["read_tokens"] / blocks["read_tokens"] if "read_tokens" in blocks else math.nan
    print(f"{asked.task:13} a window moving each step: {longer:.2f} times as long, {more:.2f} times the tokens read\n")


def laid_out(chosen: Options, folder: Path) -> Iterator[str]:
    """The tasks whose source files are there."""
    for task in chosen.tasks:
        try:
            lay_out(task, chosen.data, folder / task, max(chosen.episodes, 1))
        except DataUnavailable as missing:
            print(f"{task:13} left out: {missing}")
            continue
        yield task


def texts(tasks: list[str], folder: Path, bounds: Bounds) -> Iterator[str]:
    """First prompts, for the random checkpoint's tokenizer to learn from."""
    for task in tasks:
        with opened(task, folder / task, bounds) as evaluator:
            for item in every_nth(evaluator.items(folder / task), 8):
                prompt = next(evaluator.episode(item))
                yield prompt.text or "\n".join(turn.content for turn in prompt.messages)


def main() -> None:
    chosen = options()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tasks = list(laid_out(chosen, folder))
        bounds = Bounds(chosen.steps, chosen.tokens)
        checkpoint = chosen.checkpoint or random_checkpoint(folder / "random", texts(tasks, folder, bounds))
        print(f"{chosen.engine}, {checkpoint.name}, {chosen.episodes} episodes of {chosen.steps} steps\n", flush=True)
        for task in tasks:
            problems = task == "gsm8k"
            asked = Asked(
                task=task,
                way="together",
                checkpoint=str(checkpoint.absolute()),
                folder=str(folder / task),
                engine="vllm" if chosen.engine == "vllm" else "transformers",
                items=chosen.problems if problems else chosen.episodes,
                at_a_time=chosen.problems if problems else chosen.at_a_time,
                steps=3 * chosen.steps if task == "webshop" else chosen.steps,
                tokens=8 * chosen.tokens if problems else chosen.tokens,
                own_words=problems,
            )
            try:
                bench(task, asked, chosen.python, folder)
            except Failed as why:
                print(f"{task:13} left out: {why}\n", flush=True)


if __name__ == "__main__":
    main()
