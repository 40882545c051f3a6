"""What the grading runner itself takes for complete GSM8K, with an engine in a model's place.

    python -m perf.bench_runner --data FOLDER --checkpoint FOLDER [--step-ms 15]

FOLDER of --data holds a folder gsm8k of source files. The checkpoint lends template and tokenizer; its weights are not
loaded. The engine is perf/rollouts/instant.py. Two evaluations of all 1,319 problems, each from the first prompt to the
verdict, with prompts, decoding, extraction, records and progress:

- the engine answers at once: all seconds are the runner's;
- each of its steps waits --step-ms, as for a GPU, and gives every sequence a token: what the runner adds to the same
  engine with the complete list in its queue.

CPU seconds of the runner's main thread are what an engine waits for; other threads work beside a GPU.
"""

import argparse
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1", TOKENIZERS_PARALLELISM="false")

from benchmark.tasks.gsm8k import evaluator as gsm8k
from grading.contract import RunnerSpec
from grading.runner import evaluation
from grading.runner.engines.protocol import Request
from grading.runner.events import Events
from grading.runner.stops import Decoder
from perf.rollouts.instant import InstantEngine
from perf.rollouts.tasks import lay_out


@dataclass(frozen=True)
class Measured:
    """Seconds and steps of one evaluation's generating and scoring."""

    wall: float
    main_cpu: float
    all_cpu: float
    engine: InstantEngine

    def __str__(self) -> str:
        rows = self.engine.idle_rows / max(self.engine.steps, 1)
        return (
            f"{self.wall:6.2f} s, CPU {self.main_cpu:.2f} s in the main thread and {self.all_cpu:.2f} s in all, "
            f"{self.engine.steps} steps with {rows:.1f} rows empty"
        )


def evaluated(held_out: Path, checkpoint: Path, *, rows: int, step_s: float) -> Measured:
    """One evaluation. Raises: RuntimeError: it gave no score."""
    engines: list[InstantEngine] = []

    def start(_: RunnerSpec, __: object, decoder: Decoder, ___: int) -> InstantEngine:
        engines.append(InstantEngine(decoder, rows=rows, step_s=step_s))
        return engines[-1]

    vars(evaluation)["start_engine"] = start
    task, folder = str(Path(gsm8k.__file__).parent), str(checkpoint.absolute())
    spec = RunnerSpec(gsm8k.Gsm8k.protocol, task, str(held_out), folder, folder, batch_size=rows)
    with tempfile.TemporaryDirectory() as out, Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        verdict = evaluation.evaluate(spec, Path(out), Events(nowhere))
        if verdict.score is None:
            raise RuntimeError(str(verdict.finding))
        engine = engines[0]
        wall, main, cpu = time.monotonic(), time.thread_time(), time.process_time()
    return Measured(wall - engine.began, main - engine.began_main, cpu - engine.began_cpu, engine)


def alone(count: int, *, rows: int, step_s: float) -> float:
    """Seconds of the engine with all requests in its queue, and nothing to decode."""
    engine = InstantEngine(NothingToDecode(), rows=rows, step_s=step_s)
    began, done = time.monotonic(), 0
    for key in range(count):
        engine.submit(key, Request((), 1))
    while done < count:
        done += len(engine.step())
    return time.monotonic() - began


class NothingToDecode(Decoder):
    """Every text is empty."""

    def __init__(self) -> None:
        super().__init__(None, ())

    def text(self, tokens: object, stop: object) -> str:
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for folder in ("data", "checkpoint"):
        parser.add_argument(f"--{folder}", type=Path, required=True)
    parser.add_argument("--step-ms", type=float, default=15.0)
    parser.add_argument("--rows", type=int, default=256)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        held_out = Path(name) / "gsm8k"
        lay_out("gsm8k", chosen.data, held_out, 0)
        count = len((held_out / "test.jsonl").read_text(encoding="utf-8").splitlines())
        at_once = evaluated(held_out, chosen.checkpoint, rows=chosen.rows, step_s=0)
        print(f"{count} problems, an engine that answers at once: {at_once}", flush=True)
        step_s = chosen.step_ms / 1000
        base = alone(count, rows=chosen.rows, step_s=step_s)
        stepped = evaluated(held_out, chosen.checkpoint, rows=chosen.rows, step_s=step_s)
        print(f"steps of {chosen.step_ms:g} ms: the engine alone {base:.2f} s, the runner {stepped}")
        print(f"the runner adds {stepped.wall - base:.2f} s: {base / stepped.wall:.1%} of its engine alone")


if __name__ == "__main__":
    main()
