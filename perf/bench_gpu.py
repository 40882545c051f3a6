"""Grading on a GPU: complete tasks on one vLLM engine, many episodes at once against one at a time, twice the same.

    python -m perf.bench_gpu --data FOLDER --checkpoint FOLDER --out RESULTS.JSONL [--tasks alfworld ...]
    python -m perf.bench_gpu --data FOLDER --checkpoint FOLDER --out RESULTS.JSONL --in-turn [--small FOLDER]

The second form makes the measurements of perf/rollouts/in_turn.py one after the other, each with an engine of its own,
within --seconds: complete gsm8k through `python -m grading.runner`; webshop's ratio and gsm8k beside the engine alone;
alfworld twice without and with vLLM's batch-invariant mode, and what the mode costs. With --small it grades a small
real checkpoint on complete gsm8k, webshop and alfworld instead. The first form:

FOLDER of --data holds a folder of source files for each task. The engine starts once; its prefix cache is emptied
between measurements. What is measured, and written as one JSON line each:

- alfworld, webshop, deepsearchqa: all episodes at once (alfworld --repeats times), then --alone of them one at a time.
  Words come from a policy (perf/rollouts/tasks.py); tokens are generated. `same_outputs` compares completions with the
  first repeat's: the prompts were the same.
- gsm8k: vLLM's own `generate` on the list of prompts, then the runner's loop with as many in flight as it has on a
  GPU, the checkpoint's own words.

`python -m perf.rollouts.random_checkpoint FOLDER TOKENIZER` makes a checkpoint of 7B shape. --batch-invariant measures
vLLM's batch-invariant mode.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmark.tasks.contract import Evaluator, Item, Record
from grading.runner.engines.protocol import Engine
from grading.runner.engines.starting import GPU_EPISODES
from grading.runner.prompts import PromptEncoder
from perf.rollouts.gpu import Timed, Watch
from perf.rollouts.in_turn import Place, in_turn
from perf.rollouts.measuring import (
    Asked,
    counts,
    engine_alone,
    episodes,
    every_nth,
    played,
    read_since,
    read_tokens,
    started,
    vllm_of,
)
from perf.rollouts.tasks import lay_out

INTERACTIVE = ("alfworld", "webshop", "deepsearchqa")
Started = tuple[Engine, PromptEncoder]


@dataclass(frozen=True)
class Options:
    """The command line."""

    data: Path
    checkpoint: Path
    out: Path
    device: str
    dtype: str
    tasks: list[str]
    episodes: int
    alone: int
    steps: int
    tokens: list[int]
    problems: int
    problem_tokens: int
    at_a_time: int
    repeats: int
    repeated: list[str]
    shop_steps: int
    batch_invariant: bool
    in_turn: bool
    small: Path | None
    seconds: float


def options() -> Options:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for folder in ("data", "checkpoint", "out"):
        parser.add_argument(f"--{folder}", type=Path, required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--tasks", nargs="+", choices=[*INTERACTIVE, "gsm8k"], default=["gsm8k", *INTERACTIVE])
    parser.add_argument("--episodes", type=int, default=134)
    parser.add_argument("--alone", type=int, default=8, help="episodes played one at a time too; 0 for none")
    parser.add_argument("--steps", type=int, default=50, help="of an episode of alfworld at most")
    parser.add_argument("--shop-steps", type=int, default=12, help="of a visit to webshop at most")
    parser.add_argument("--tokens", type=int, nargs="+", default=[16], help="of an action at most; each is measured")
    parser.add_argument("--problems", type=int, default=1319, help="of gsm8k")
    parser.add_argument("--problem-tokens", type=int, default=512)
    parser.add_argument("--at-a-time", type=int, default=134)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--repeated", nargs="+", choices=[*INTERACTIVE, "gsm8k"], default=["alfworld", "gsm8k"])
    parser.add_argument("--batch-invariant", action="store_true")
    parser.add_argument("--in-turn", action="store_true")
    parser.add_argument("--small", type=Path, help="a small real checkpoint to grade, for --in-turn")
    parser.add_argument("--seconds", type=float, default=570, help="for --in-turn")
    return Options(**vars(parser.parse_args()))


class Bench:
    """One engine for all measurements, and the file of results."""

    def __init__(self, chosen: Options, folder: Path, watch: Watch) -> None:
        self._chosen, self._folder, self._watch = chosen, folder, watch
        self._engine: Started | None = None

    def task(self, task: str) -> None:
        """Everything that is measured of one task."""
        chosen = self._chosen
        lay_out(task, chosen.data, self._folder / task, chosen.episodes)
        problems = task == "gsm8k"
        for tokens in [chosen.problem_tokens] if problems else chosen.tokens:
            self._task(task, tokens, problems=problems)

    def _task(self, task: str, tokens: int, *, problems: bool) -> None:
        chosen = self._chosen
        asked = Asked(
            task=task,
            way="together",
            checkpoint=str(chosen.checkpoint.absolute()),
            folder=str(self._folder / task),
            engine="vllm",
            items=chosen.problems if problems else chosen.episodes,
            at_a_time=max(chosen.at_a_time, GPU_EPISODES) if problems else chosen.at_a_time,
            steps=chosen.shop_steps if task == "webshop" else chosen.steps,
            tokens=tokens,
            own_words=problems,
            device=chosen.device,
            dtype=chosen.dtype,
            batch_invariant=chosen.batch_invariant,
        )
        with episodes(asked) as (evaluator, items):
            self._measure(asked, evaluator, items)

    def _measure(self, asked: Asked, evaluator: Evaluator, items: list[Item]) -> None:
        engine, encoder = self._ready(asked, evaluator, items[0])
        base: dict[str, Any] | None = None
        most = {"most_tokens": asked.tokens}
        if asked.own_words:
            self._empty(engine)
            began = time.monotonic()
            base = self._tell(asked.task, "engine", engine_alone(evaluator, items, engine, encoder), began)
        first: list[Record] = []
        together: dict[str, Any] = {}
        for repeat in range(self._chosen.repeats if asked.task in self._chosen.repeated else 1):
            together, records = self._play(asked, evaluator, items, engine, encoder)
            first = first or records
            same = {"same_outputs": equal_share(first, records)} if repeat else {}
            told = together if base is None else {**together, "of_engine": rate(together) / rate(base)}
            self._tell(asked.task, f"together {repeat + 1}", {**told, **same, **most})
        if not asked.own_words and self._chosen.alone:
            few = every_nth(items, self._chosen.alone)
            alone, records = self._play(replace(asked, at_a_time=1), evaluator, few, engine, encoder)
            ratio = (together["prompts"] / together["seconds"]) / (alone["prompts"] / alone["seconds"])
            same = {"same_outputs": equal_share(first, records)}
            self._tell(asked.task, "alone", {**alone, "together_is_faster": ratio, **same, **most})

    def _ready(self, asked: Asked, evaluator: Evaluator, item: Item) -> Started:
        if self._engine is None:
            began = time.monotonic()
            self._engine = started(asked, evaluator, item)
            self._tell("engine", "start", {"seconds": time.monotonic() - began})
        return self._engine

    def _play(
        self, asked: Asked, evaluator: Evaluator, items: Sequence[Item], engine: Engine, encoder: PromptEncoder
    ) -> tuple[dict[str, Any], list[Record]]:
        self._empty(engine)
        timed, before = Timed(engine), read_tokens(engine)
        seconds, records = played(evaluator, items, timed, encoder, asked.at_a_time)
        watched = self._watch.since(time.monotonic() - seconds)
        return {
            **counts(seconds, records),
            **read_since(before, engine),
            "engine_seconds": timed.seconds,
            "engine_steps": timed.steps,
            **watched,
        }, records

    def _empty(self, engine: Engine) -> None:
        vllm_of(engine).reset_prefix_cache()

    def _tell(self, task: str, way: str, told: Mapping[str, Any], began: float | None = None) -> dict[str, Any]:
        watched = {} if began is None else self._watch.since(began)
        mode = {"batch_invariant": True} if self._chosen.batch_invariant else {}
        line = {"task": task, "way": way, **mode, **told, **watched}
        line.pop("outputs", None)
        if "tokens" in line:
            seconds = line["seconds"]
            line["episodes_per_minute"] = line["episodes"] * 60 / seconds
            line["prompts_per_s"] = line["prompts"] / seconds
            line["tokens_per_s"] = rate(line)
        with self._chosen.out.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")
        print(" ".join(f"{name}={shown(value)}" for name, value in line.items()), flush=True)
        return line


def shown(value: object) -> str:
    if isinstance(value, dict):
        return "/".join(shown(part) for part in value.values())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def rate(told: Mapping[str, Any]) -> float:
    """Generated tokens a second."""
    return float(told["tokens"]) / float(told["seconds"])


def equal_share(one: Sequence[Record], other: Sequence[Record]) -> float:
    """The share of the other's completions that are the same in `one`."""
    known = {record.item_id: record.outputs for record in one}
    pairs = [pair for record in other for pair in zip(known[record.item_id], record.outputs, strict=False)]
    return sum(first == second for first, second in pairs) / len(pairs)


def main() -> None:
    chosen = options()
    if chosen.in_turn:
        place = Place(chosen.data, chosen.checkpoint, chosen.small, chosen.out, chosen.device, chosen.dtype)
        in_turn(place, seconds=chosen.seconds)
        return
    with tempfile.TemporaryDirectory() as name, Watch() as watch:
        bench = Bench(chosen, Path(name), watch)
        for task in chosen.tasks:
            bench.task(task)


if __name__ == "__main__":
    main()
