"""One measurement, in a process of its own: `python -m perf.rollouts.measuring ASKED.JSON` prints its result as JSON.

Neither way of playing then finds the other's prompts in a cache. Loading the model and starting the games' processes is
not counted; reading games is.
"""

import os

os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1", TOKENIZERS_PARALLELISM="false")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")

import hashlib
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmark.tasks.contract import Completion, Episode, Evaluator, Item, Metrics, Outcome, Prompt, Record
from grading.contract import EngineName, RunnerSpec
from grading.runner.checkpoint import load_renderer, open_checkpoint
from grading.runner.engines.protocol import Engine, Request
from grading.runner.engines.starting import start_engine
from grading.runner.episodes import EpisodeDriver, first_prompt
from grading.runner.prompts import ContextLimit, PromptEncoder
from grading.runner.stops import Decoder, StopTokens
from perf.rollouts.tasks import Bounds, opened, word


@dataclass(frozen=True)
class Asked:
    """What is played with what.

    `way` is `alone`, one episode at a time; `together`, many; or `engine`, the engine on a list of prompts.
    """

    task: str
    way: str
    checkpoint: str
    folder: str
    engine: EngineName
    items: int
    at_a_time: int
    steps: int
    tokens: int
    own_words: bool
    """The checkpoint's own words go on, not the policy's."""
    device: str = "cpu"
    dtype: str = "float32"
    moving_window: bool = False
    batch_invariant: bool = False


class Guided:
    """An evaluator whose episodes go on with the policy's words. Records keep what the checkpoint wrote."""

    def __init__(self, task: str, evaluator: Evaluator) -> None:
        self._task, self._evaluator = task, evaluator
        self.protocol = evaluator.protocol
        self.parallel_steps = int(getattr(evaluator, "parallel_steps", 1))
        self.prompts = 0

    def items(self, held_out: Path) -> Sequence[Item]:
        return self._evaluator.items(held_out)

    def metrics(self, records: Sequence[Record]) -> Metrics:
        return self._evaluator.metrics(records)

    def episode(self, item: Item) -> Episode:
        episode, said = self._evaluator.episode(item), 0
        try:
            prompt: Prompt = next(episode)
            while True:
                completion: Completion = yield prompt
                text = word(self._task, said, prompt)
                said += 1
                prompt = episode.send(replace(completion, text=text))
        except StopIteration as end:
            outcome: Outcome = end.value
        return replace(outcome, facts={**outcome.facts, "prompts": said})


def every_nth(items: Sequence[Item], count: int) -> list[Item]:
    """`count` items spread evenly over all: every kind of item is among them."""
    count = min(count, len(items))
    return [items[at * len(items) // count] for at in range(count)]


@contextmanager
def episodes(asked: Asked) -> Iterator[tuple[Evaluator, list[Item]]]:
    """The task's evaluator and as many of its items as are asked for."""
    folder = Path(asked.folder)
    with opened(asked.task, folder, Bounds(asked.steps, asked.tokens, asked.moving_window)) as plain:
        evaluator = plain if asked.own_words else Guided(asked.task, plain)
        yield evaluator, every_nth(evaluator.items(folder), asked.items)


def started(asked: Asked, evaluator: Evaluator, item: Item) -> tuple[Engine, PromptEncoder]:
    """The engine, loaded and tried with the item's first prompt."""
    spec = RunnerSpec(
        protocol=evaluator.protocol,
        task_dir="",
        held_out=asked.folder,
        checkpoint=asked.checkpoint,
        reference=asked.checkpoint,
        engine=asked.engine,
        batch_size=asked.at_a_time,
        device=asked.device,
        dtype=asked.dtype,
        batch_invariant=asked.batch_invariant,
    )
    renderer = load_renderer(Path(asked.checkpoint))
    checkpoint = open_checkpoint(Path(asked.checkpoint), renderer)
    decoder = Decoder(checkpoint.tokenizer, StopTokens.read(checkpoint.path, checkpoint.tokenizer).ids)
    limit = ContextLimit.choose(None, checkpoint.positions)
    encoder = PromptEncoder(renderer, checkpoint.tokenizer, limit, checkpoint.rows)
    engine = start_engine(spec, checkpoint, decoder, limit.tokens)
    _, request = encoder.encode(first_prompt(evaluator, item), first=True)
    engine.probe(request.tokens if request else ())
    return engine, encoder


def measure(asked: Asked) -> dict[str, Any]:
    """Seconds, and what was done in them."""
    with episodes(asked) as (evaluator, items):
        engine, encoder = started(asked, evaluator, items[0])
        if asked.way == "engine":
            return engine_alone(evaluator, items, engine, encoder)
        before = read_tokens(engine)
        seconds, records = played(evaluator, items, engine, encoder, 1 if asked.way == "alone" else asked.at_a_time)
    told = {record.item_id: record.outputs for record in records}
    return {
        **counts(seconds, records),
        "outputs": {item: hashlib.sha256("\0".join(texts).encode()).hexdigest() for item, texts in told.items()},
        **read_since(before, engine),
    }


def read_tokens(engine: Engine) -> tuple[float, float]:
    """Prompt tokens that vLLM was given, and those of them that it had in its prefix cache; zeros for other engines."""
    vllm = vllm_of(engine)
    told = {metric.name: getattr(metric, "value", 0) for metric in vllm.get_metrics()} if vllm is not None else {}
    return told.get("vllm:prefix_cache_queries", 0), told.get("vllm:prefix_cache_hits", 0)


def read_since(before: tuple[float, float], engine: Engine) -> dict[str, float]:
    """What of it came since `before`; nothing for engines that do not tell."""
    asked, cached = (now - then for now, then in zip(read_tokens(engine), before, strict=True))
    return (
        {"prompt_tokens": asked, "read_tokens": asked - cached, "cached_percent": 100 * cached / asked} if asked else {}
    )


def played(
    evaluator: Evaluator, items: Sequence[Item], engine: Engine, encoder: PromptEncoder, in_flight: int
) -> tuple[float, list[Record]]:
    """Seconds of playing the items, and their records."""
    warm_up(evaluator, items[0], min(in_flight, len(items)))
    records: list[Record] = []
    began = time.monotonic()
    EpisodeDriver(engine, encoder, evaluator, in_flight).play(items, records.append)
    return time.monotonic() - began, records


def counts(seconds: float, records: Sequence[Record]) -> dict[str, float]:
    return {
        "seconds": seconds,
        "episodes": len(records),
        "prompts": sum(len(record.outputs) for record in records),
        "tokens": sum(record.tokens for record in records),
    }


def engine_alone(evaluator: Evaluator, items: Sequence[Item], engine: Engine, encoder: PromptEncoder) -> dict[str, Any]:
    """The first prompts of all items as one list: vLLM's own `LLM.generate`, or the engine's batch without episodes."""
    encoded = [encoder.encode(first_prompt(evaluator, item), first=True)[1] for item in items]
    requests: list[Request] = [request for request in encoded if request is not None]
    vllm = vllm_of(engine)
    if vllm is not None:
        generated(vllm, engine.sampling, [replace(requests[0], max_tokens=1)])  # what is set up at the first call
    started = time.monotonic()
    tokens = generated(vllm, engine.sampling, requests) if vllm is not None else batched(engine, requests)
    seconds = time.monotonic() - started
    count = len(requests)
    return {"seconds": seconds, "episodes": count, "prompts": count, "tokens": tokens, "outputs": {}}


def vllm_of(engine: Engine) -> Any:
    """vLLM's own `LLM` behind the engine, None behind another."""
    return getattr(getattr(engine, "_engine", None), "_llm", None)


def generated(vllm: Any, sampling: Mapping[str, Any], requests: Sequence[Request]) -> int:
    from vllm import SamplingParams

    prompts = [{"prompt_token_ids": list(request.tokens)} for request in requests]
    params = [SamplingParams(**sampling, max_tokens=request.max_tokens) for request in requests]
    answers = vllm.generate(prompts, params, use_tqdm=False)
    return sum(len(answer.outputs[0].token_ids) for answer in answers)


def batched(engine: Engine, requests: Sequence[Request]) -> int:
    tokens, open_ = 0, len(requests)
    for key, request in enumerate(requests):
        engine.submit(key, request)
    while open_:
        done = engine.step()
        open_ -= len(done)
        tokens += sum(completion.tokens for _, completion in done)
    return tokens


def warm_up(evaluator: Evaluator, item: Item, in_flight: int) -> None:
    """Start as many games' processes as will be played in."""
    count = in_flight if getattr(evaluator, "parallel_steps", 1) > 1 else 0
    waiting = [evaluator.episode(item) for _ in range(count)]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(next, waiting))
    for episode in waiting:
        episode.close()


def main() -> None:
    asked = Asked(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    out.write(json.dumps(measure(asked)) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
