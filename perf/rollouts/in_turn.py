"""What is measured on a GPU within one command of ten minutes: each in a process with an engine of its own."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmark.tasks.alfworld import evaluator as alfworld
from benchmark.tasks.gsm8k import evaluator as gsm8k
from benchmark.tasks.webshop import evaluator as webshop
from grading.contract import RunnerSpec
from perf.rollouts.tasks import lay_out

ALFWORLD = ["--steps", "15", "--repeats", "2", "--repeated", "alfworld", "gsm8k"]
"""The same games both ways, so that what batch invariance costs and brings can be compared."""
PLANS = {
    "webshop and complete gsm8k": [
        *("--tasks", "webshop", "gsm8k", "--tokens", "16", "64", "100", "--alone", "4", "--repeats", "1"),
    ],
    "alfworld and gsm8k, batch-invariant": [
        *("--tasks", "alfworld", "gsm8k", "--alone", "0", "--problems", "256", "--batch-invariant"),
        *ALFWORLD,
    ],
    "alfworld and gsm8k, as it comes": ["--tasks", "alfworld", "gsm8k", "--alone", "0", "--problems", "256", *ALFWORLD],
}
GRADED = {
    "gsm8k": (gsm8k, gsm8k.Gsm8k.protocol),
    "webshop": (webshop, webshop.WebShop.protocol),
    "alfworld": (alfworld, alfworld.Alfworld.protocol),
}
"""Tasks that `grading.runner` grades complete: where they are, and their protocol."""
LEAST_S = 20.0


@dataclass(frozen=True)
class Place:
    """Where everything lies and runs. `small` is a small real checkpoint that is graded in place of everything else."""

    data: Path
    checkpoint: Path
    small: Path | None
    out: Path
    device: str
    dtype: str

    @property
    def options(self) -> list[str]:
        """Of `perf.bench_gpu`."""
        paths = ["--data", str(self.data), "--checkpoint", str(self.checkpoint), "--out", str(self.out)]
        return [*paths, "--device", self.device, "--dtype", self.dtype]


def in_turn(place: Place, *, seconds: float) -> None:
    """Run every plan as long as there is time; each adds its lines to `place.out` as it goes."""
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        for what, command in commands(place, Path(name)):
            left = until - time.monotonic()
            ended = finished(command, left) if left > LEAST_S else "there was no time left"
            print(f"{what}: {ended}, {until - time.monotonic():.0f} s left", flush=True)
        for verdict in sorted(Path(name).glob("*/out/verdict.json")):
            tell(verdict, place.out)


def commands(place: Place, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """What is measured, and the command that does."""
    for task in GRADED if place.small is not None else ("gsm8k",):
        spec = spec_of(task, place, place.small or place.checkpoint, folder / task)
        yield f"{task} graded", [sys.executable, "-m", "grading.runner", *spec]
    for what, more in PLANS.items() if place.small is None else ():
        yield what, [sys.executable, "-m", "perf.bench_gpu", *place.options, *more]


def spec_of(task: str, place: Place, checkpoint: Path, folder: Path) -> list[str]:
    """The grading runner's arguments, laid out in `folder`."""
    lay_out(task, place.data, folder / "held_out", 0)
    module, protocol = GRADED[task]
    model = str(checkpoint.absolute())
    spec = RunnerSpec(
        protocol=protocol,
        task_dir=str(Path(str(module.__file__)).parent),
        held_out=str(folder / "held_out"),
        checkpoint=model,
        reference=model,
        engine="vllm",
        device=place.device,
        dtype=place.dtype,
        batch_size=256,
    )
    (folder / "spec.json").write_text(json.dumps(asdict(spec)), encoding="utf-8")
    return [str(folder / "spec.json"), str(folder / "out")]


def finished(command: list[str], seconds: float) -> str:
    """Run it for so long at most, then end it with everything that it has started."""
    process = subprocess.Popen(command, start_new_session=True)
    try:
        return f"ended with {process.wait(timeout=seconds)}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "cut off"


def tell(verdict: Path, out: Path) -> None:
    """The verdict's figures as a line of `out`."""
    told = json.loads(verdict.read_text(encoding="utf-8"))
    names = ("score", "n_scored", "tokens", "seconds", "seconds_loading", "finding", "metrics")
    line = {"task": verdict.parents[1].name, "way": "grading.runner", **{name: told[name] for name in names}}
    with out.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(line) + "\n")
    print(json.dumps(line), flush=True)
