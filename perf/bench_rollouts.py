"""How much faster the runner plays interactive episodes together than one at a time.

The same engine, checkpoint and ALFWorld games, each measured in a fresh process, so that neither finds the other's
prompts in a cache. Loading the model and starting the games' processes is not counted; reading games is.

`python -m perf.bench_rollouts --checkpoint FOLDER --archive FILE` reads the games from ALFWorld's archive.
`--engine vllm` wants an interpreter that has vLLM.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.tasks.alfworld import data, evaluator, playing
from benchmark.tasks.alfworld.archives import games_in
from benchmark.tasks.contract import Item, Record
from grading.contract import RunnerSpec
from grading.runner.checkpoint import load_renderer, open_checkpoint
from grading.runner.engines.starting import start_engine
from grading.runner.episodes import EpisodeDriver, first_prompt
from grading.runner.prompts import ContextLimit, PromptEncoder
from grading.runner.stops import Decoder, StopTokens

TASK = Path(evaluator.__file__).parent


@dataclass(frozen=True)
class Asked:
    """The command line: what is played with what."""

    checkpoint: Path
    archive: Path
    engine: str
    games: int
    at_a_time: int
    steps: int
    alone: bool
    measure: Path | None


def arguments() -> Asked:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--archive", type=Path, required=True, help=f"{data.RELEASE} or {data.REPACKED}")
    parser.add_argument("--engine", choices=["transformers", "vllm"], default="transformers")
    parser.add_argument("--games", type=int, default=16)
    parser.add_argument("--at-a-time", type=int, default=16)
    parser.add_argument("--steps", type=int, default=6, help="after which a game ends here (default 6)")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    return Asked(**vars(parser.parse_args()))


def held_out(archive: Path, folder: Path) -> None:
    """The unseen games and the examples, as `data.prepare` lays them out."""
    with zipfile.ZipFile(folder / evaluator.ARCHIVE, "w") as games:
        for split, name, content in games_in(archive):
            if split == data.HELD_OUT:
                games.writestr(name + evaluator.FILE, content)
    (folder / "examples.json").write_bytes((TASK / "examples.json").read_bytes())


def measure(asked: Asked, folder: Path) -> dict[str, float]:
    """Play the games in this process; seconds, and what was done in them."""
    playing.MAX_STEPS = asked.steps
    task = evaluator.evaluator()
    items = every_nth(task.items(folder), asked.games)
    in_flight = 1 if asked.alone else asked.at_a_time
    driver = make_driver(asked, task, folder, items[0], in_flight)
    warm = [task._room.take() for _ in range(in_flight)]
    for process in warm:
        process.ask({"game": items[0].id + evaluator.FILE, "archive": str(folder / evaluator.ARCHIVE)})
        task._room.put_back(process)
    records: list[Record] = []
    started = time.monotonic()
    driver.play(items, records.append)
    seconds = time.monotonic() - started
    task._room.close()
    return {
        "seconds": seconds,
        "episodes": len(records),
        "steps": sum(record.facts["steps"] for record in records),
        "tokens": sum(record.tokens for record in records),
    }


def every_nth(items: Sequence[Item], count: int) -> list[Item]:
    """`count` items spread evenly over all: every type of task is among them."""
    return [items[at * len(items) // count] for at in range(count)]


def make_driver(asked: Asked, task: evaluator.Alfworld, folder: Path, item: Item, in_flight: int) -> EpisodeDriver:
    spec = RunnerSpec(
        protocol=task.protocol,
        task_dir=str(TASK),
        held_out=str(folder),
        checkpoint=str(asked.checkpoint),
        reference=str(asked.checkpoint),
        engine="vllm" if asked.engine == "vllm" else "transformers",
        batch_size=asked.at_a_time,
    )
    renderer = load_renderer(asked.checkpoint)
    checkpoint = open_checkpoint(asked.checkpoint, renderer)
    decoder = Decoder(checkpoint.tokenizer, StopTokens.read(checkpoint.path, checkpoint.tokenizer).ids)
    limit = ContextLimit.choose(None, checkpoint.positions)
    encoder = PromptEncoder(renderer, checkpoint.tokenizer, limit, checkpoint.rows)
    engine = start_engine(spec, checkpoint, decoder, limit.tokens)
    _, request = encoder.encode(first_prompt(task, item), first=True)
    engine.probe(request.tokens if request else ())
    return EpisodeDriver(engine, encoder, task, in_flight)


def measured(asked: Asked, folder: Path, *, alone: bool) -> dict[str, float]:
    """One measurement in a process of its own, printed as a line."""
    result = folder / f"alone-{alone}.json"
    again = [sys.executable, "-m", "perf.bench_rollouts", *sys.argv[1:], "--measure", str(result)]
    # As the runner sets it: threads that wait sleep.
    environment = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ}
    subprocess.run(again + ["--alone"] * alone, check=True, stdout=sys.stderr, env=environment)
    found: dict[str, float] = json.loads(result.read_text())
    minutes = found["seconds"] / 60
    print(
        f"{'one at a time' if alone else f'{asked.at_a_time} at a time':>14}: {found['seconds']:7.1f} s"
        f"  {found['episodes'] / minutes:7.1f} episodes/min  {found['steps'] / minutes:7.1f} steps/min"
        f"  {found['tokens'] / found['seconds']:6.1f} tokens/s",
        flush=True,
    )
    return found


def main() -> None:
    asked = arguments()
    if asked.measure is not None:
        asked.measure.write_text(json.dumps(measure(asked, asked.measure.parent)))
        return
    with tempfile.TemporaryDirectory() as folder:
        held_out(asked.archive, Path(folder))
        print(f"{asked.engine}, {asked.checkpoint.name}, {asked.games} games of {asked.steps} steps", flush=True)
        alone = measured(asked, Path(folder), alone=True)
        together = measured(asked, Path(folder), alone=False)
        print(f"         ratio: {alone['seconds'] / together['seconds']:.1f}")


if __name__ == "__main__":
    main()
