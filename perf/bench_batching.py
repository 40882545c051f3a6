"""Batched against one prompt at a time: the same checkpoint and GSM8K prompts, in one run on one machine.

    python -m perf.bench_batching CHECKPOINT HELD_OUT [--items 32] [--single 4] [--engines transformers vllm]

CHECKPOINT is also the reference (its chat template); HELD_OUT is the folder that the task gsm8k prepares. The first
`--single` items are completed one at a time by plain `generate` (transformers) or one request at a time (vLLM), all
`--items` at once by the grading runner's engine. Rates are generated tokens a second, by the clock and by CPU time:
the second is the fairer one where other programs use the machine. An engine that is not installed is left out.
"""

import os

os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1", TOKENIZERS_PARALLELISM="false")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import argparse
import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.tasks.contract import Completion
from benchmark.tasks.gsm8k.evaluator import evaluator
from grading.contract import RunnerSpec
from grading.runner.checkpoint import Checkpoint, load_renderer, open_checkpoint
from grading.runner.engines.protocol import Engine, Request
from grading.runner.engines.starting import start_engine
from grading.runner.episodes import first_prompt
from grading.runner.prompts import ContextLimit, PromptEncoder
from grading.runner.stops import Decoder, StopTokens

HEADING = (
    f"{'engine':13} {'way':14} {'items':>5} {'tokens':>7} {'wall s':>8} {'CPU s':>8} "
    f"{'tok/s':>9} {'tok/CPU s':>9} {'×wall':>7} {'×CPU':>7}"
)


@dataclass(frozen=True)
class Measured:
    """One way of completing prompts: its completions and what they took."""

    way: str
    completions: list[Completion]
    wall_s: float
    cpu_s: float

    @property
    def tokens(self) -> int:
        return sum(c.tokens for c in self.completions)


def measure(way: str, work: Callable[[], list[Completion]]) -> Measured:
    wall, cpu = time.perf_counter(), time.process_time()
    completions = work()
    return Measured(way, completions, time.perf_counter() - wall, time.process_time() - cpu)


def at_once(engine: Engine, requests: list[Request]) -> list[Completion]:
    done: dict[int, Completion] = {}
    for key, request in enumerate(requests):
        engine.submit(key, request)
    while len(done) < len(requests):
        done.update(engine.step())
    return [done[key] for key in range(len(requests))]


def one_at_a_time(engine: Engine, requests: list[Request]) -> list[Completion]:
    return [at_once(engine, [request])[0] for request in requests]


def plainly_generated(model: Any, decoder: Decoder, requests: list[Request]) -> list[Completion]:
    """What transformers' own `generate` takes for one prompt after the other."""
    import torch

    completions = []
    for request in requests:
        ids = torch.tensor([request.tokens])
        stops = sorted(decoder.stop_ids)
        limits: dict[str, Any] = {"max_new_tokens": request.max_tokens, "eos_token_id": stops, "pad_token_id": stops[0]}
        with torch.inference_mode():
            output = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, **limits)
        tokens = output[0, ids.shape[1] :].tolist()
        spoken = tokens[:-1] if tokens[-1] in decoder.stop_ids else tokens
        reason: Any = "stop" if tokens[-1] in decoder.stop_ids else "length"
        completions.append(Completion(decoder.text(spoken, ()), len(tokens), reason))
    return completions


def bench_transformers(
    spec: RunnerSpec, checkpoint: Checkpoint, decoder: Decoder, requests: list[Request], single: int
) -> list[Measured]:
    alone = bench_generate(spec, checkpoint, decoder, requests[:single])
    engine = started(spec, checkpoint, decoder, requests)
    return [alone, measure(f"{spec.batch_size} at once", lambda: at_once(engine, requests))]


def bench_generate(spec: RunnerSpec, checkpoint: Checkpoint, decoder: Decoder, requests: list[Request]) -> Measured:
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(spec.threads or 1)
    model: Any = AutoModelForCausalLM.from_pretrained(
        checkpoint.path, dtype=torch.float32, attn_implementation="sdpa", trust_remote_code=False
    )
    return measure("one at a time", lambda: plainly_generated(model.eval(), decoder, requests))


def started(spec: RunnerSpec, checkpoint: Checkpoint, decoder: Decoder, requests: list[Request]) -> Engine:
    longest = max(len(r.tokens) + r.max_tokens for r in requests)
    engine = start_engine(spec, checkpoint, decoder, longest)
    engine.probe(requests[0].tokens)
    return engine


def bench_vllm(
    spec: RunnerSpec, checkpoint: Checkpoint, decoder: Decoder, requests: list[Request], single: int
) -> list[Measured]:
    engine = started(spec, checkpoint, decoder, requests)
    alone = measure("one at a time", lambda: one_at_a_time(engine, requests[:single]))
    return [alone, measure(f"{spec.batch_size} at once", lambda: at_once(engine, requests))]


def show(name: str, alone: Measured, batched: Measured) -> None:
    for m in (alone, batched):
        ratio_wall = (m.tokens / m.wall_s) / (alone.tokens / alone.wall_s)
        ratio_cpu = (m.tokens / m.cpu_s) / (alone.tokens / alone.cpu_s)
        print(
            f"{name:13} {m.way:14} {len(m.completions):5} {m.tokens:7} {m.wall_s:8.1f} {m.cpu_s:8.1f} "
            f"{m.tokens / m.wall_s:9.2f} {m.tokens / m.cpu_s:9.2f} {ratio_wall:7.2f} {ratio_cpu:7.2f}"
        )
    same = sum(a == b for a, b in zip(alone.completions, batched.completions, strict=False))
    print(f"{name:13} the same completions both ways: {same} of {len(alone.completions)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("held_out", type=Path)
    parser.add_argument("--items", type=int, default=32)
    parser.add_argument("--single", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-tokens", type=int, default=512)
    parser.add_argument("--engines", nargs="+", choices=("transformers", "vllm"), default=["transformers", "vllm"])
    options = parser.parse_args()
    renderer = load_renderer(options.checkpoint)
    checkpoint = open_checkpoint(options.checkpoint, renderer)
    decoder = Decoder(checkpoint.tokenizer, StopTokens.read(checkpoint.path, checkpoint.tokenizer).ids)
    limit = ContextLimit.choose(None, checkpoint.positions)
    encoder = PromptEncoder(renderer, checkpoint.tokenizer, limit, checkpoint.rows)
    task = evaluator()
    items = task.items(options.held_out)[: options.items]
    encoded = [encoder.encode(first_prompt(task, item), first=True)[1] for item in items]
    requests = [Request(r.tokens, min(r.max_tokens, options.max_tokens), r.stop) for r in encoded if r is not None]
    print(HEADING, flush=True)
    benches = {"transformers": bench_transformers, "vllm": bench_vllm}
    for name in options.engines:
        if importlib.util.find_spec(name) is None:
            print(f"{name:13} not installed")
            continue
        folder = str(options.checkpoint)
        spec = RunnerSpec(
            task.protocol,
            folder,
            str(options.held_out),
            folder,
            folder,
            engine=name,
            batch_size=options.items,
            threads=options.threads,
        )
        show(name, *benches[name](spec, checkpoint, decoder, requests, options.single))


if __name__ == "__main__":
    main()
