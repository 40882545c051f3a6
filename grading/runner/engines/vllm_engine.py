"""The vLLM engine: the same prompts as token ids, the same stops, every sampling field explicit."""

import math
import os
from collections.abc import Mapping
from typing import Any

from benchmark.tasks.contract import Completion, FinishReason
from grading.contract import RunnerSpec
from grading.runner.checkpoint import Checkpoint
from grading.runner.engines.protocol import Request
from grading.runner.engines.slot_batch import nonfinite_fault
from grading.runner.faults import InfraFault
from grading.runner.machine import compute_capability
from grading.runner.stops import Decoder

CPU_CACHE_GIB = "2"
INVARIANT_FROM = (8, 0)
"""vLLM's batch-invariant mode needs an NVIDIA GPU of this compute capability or a later one."""


def tensor_parallel_size(heads: int, kv_heads: int, gpus: int) -> int:
    """The most GPUs, among powers of two, that are there and divide the attention heads.

    Key-value heads must divide the size or be divided by it: fewer of them are copied to several GPUs.
    """
    size = 1
    while size * 2 <= gpus and heads % (size * 2) == 0 and (kv_heads % (size * 2) == 0 or (size * 2) % kv_heads == 0):
        size *= 2
    return size


def require_batch_invariance(capability: tuple[int, int] | None) -> None:
    """Raises: InfraFault: I_ENGINE, vLLM has no batch-invariant mode for a GPU of that compute capability."""
    if capability is None or capability < INVARIANT_FROM:
        found = "no NVIDIA GPU" if capability is None else f"one of {capability[0]}.{capability[1]}"
        raise InfraFault(
            "I_ENGINE",
            "batch-invariant grading needs an NVIDIA GPU of compute capability "
            f"{INVARIANT_FROM[0]}.{INVARIANT_FROM[1]} or later; there is {found}",
            fix="Set AGENT2_BATCH_INVARIANT=0, or grade on another GPU.",
        )


class VllmEngine:
    """One checkpoint in vLLM."""

    def __init__(self, spec: RunnerSpec, checkpoint: Checkpoint, decoder: Decoder, context: int, rows: int) -> None:
        self._spec = spec
        self._checkpoint = checkpoint
        self._decoder = decoder
        self._context = context
        self._rows = rows
        self._parallel = 1
        self._llm: Any = None
        self._engine: Any = None
        self._requests: dict[str, Request] = {}
        self.sampling: Mapping[str, Any] = {
            "n": 1,
            "temperature": 0.0,
            "top_p": 1.0,
            "top_k": 0,
            "min_p": 0.0,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "repetition_penalty": 1.0,
            "min_tokens": 0,
            "ignore_eos": False,
            "stop_token_ids": sorted(decoder.stop_ids),
        }

    def load(self) -> None:
        """Start the engine. Raises: what vLLM raises; InfraFault: the GPU cannot do what the spec asks."""
        if self._spec.batch_invariant:
            require_batch_invariance(compute_capability(self._spec.device))
        # vLLM reads it when it is imported.
        os.environ["VLLM_BATCH_INVARIANT"] = str(int(self._spec.batch_invariant))
        on_cpu = self._spec.device == "cpu"
        if on_cpu:
            os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", CPU_CACHE_GIB)
            # Eager for all of it: some of vLLM's own helpers would still ask for a C++ compiler, and for its time.
            os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
        else:
            self._parallel = self._choose_parallel()
        if self._parallel == 1:
            # In one process a failure to load arrives as itself, not as "engine core initialization failed".
            os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
        from vllm import LLM

        # Kept whole: vLLM's own way of completing a list is what this engine is measured against.
        self._llm = LLM(
            model=str(self._checkpoint.path),
            tokenizer=str(self._checkpoint.path),
            trust_remote_code=False,
            dtype=self._spec.dtype,
            seed=self._spec.seed,
            max_model_len=self._context,
            max_num_seqs=self._rows,
            tensor_parallel_size=self._parallel,
            generation_config="vllm",
            load_format="safetensors",
            enforce_eager=on_cpu,
            enable_prefix_caching=True,
            disable_log_stats=False,
        )
        self._engine = self._llm.llm_engine

    def _choose_parallel(self) -> int:
        import torch

        text = self._checkpoint.config.get_text_config()
        heads = int(text.num_attention_heads)
        kv_heads = int(getattr(text, "num_key_value_heads", None) or heads)
        # A named GPU, such as cuda:1, is one GPU.
        gpus = torch.cuda.device_count() if self._spec.device == "cuda" else 1
        return tensor_parallel_size(heads, kv_heads, gpus)

    def probe(self, tokens: tuple[int, ...]) -> None:
        """One token after one prompt, with its log-probability. Raises: ArtifactFault: E_NONFINITE."""
        self._add("probe", Request(tokens, 1), logprobs=1)
        outputs: list[Any] = []
        while not any(o.finished for o in outputs):
            outputs = self._engine.step()
        chosen = outputs[0].outputs[0].logprobs[0]
        if not all(math.isfinite(entry.logprob) for entry in chosen.values()):
            raise nonfinite_fault()

    def submit(self, key: int, request: Request) -> None:
        """Queue one request."""
        self._requests[str(key)] = request
        self._add(str(key), request)

    def _add(self, name: str, request: Request, **extra: Any) -> None:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        params = SamplingParams(
            **self.sampling,
            max_tokens=request.max_tokens,
            stop=list(request.stop),
            # Text is only needed to find stop strings, and unfinished outputs by nobody: at some hundred sequences
            # both cost as much time as the GPU's work.
            detokenize=bool(request.stop),
            output_kind=RequestOutputKind.FINAL_ONLY,
            **extra,
        )
        self._engine.add_request(name, {"prompt_token_ids": list(request.tokens)}, params)

    def step(self) -> list[tuple[int, Completion]]:
        """Advance vLLM's own continuous batch."""
        return [self._completion(output) for output in self._engine.step() if output.finished]

    def _completion(self, output: Any) -> tuple[int, Completion]:
        request = self._requests.pop(output.request_id)
        result = output.outputs[0]
        tokens = list(result.token_ids)
        if result.finish_reason not in ("stop", "length"):
            raise InfraFault("I_ENGINE", f"vLLM ended a request with {result.finish_reason!r}")
        reason: FinishReason = result.finish_reason
        spoken = tokens[:-1] if tokens and tokens[-1] in self._decoder.stop_ids else tokens
        return int(output.request_id), Completion(self._decoder.text(spoken, request.stop), len(tokens), reason)

    def versions(self) -> dict[str, str]:
        """How the model is spread, and whether a sequence's company can change what it says."""
        invariant = "on" if self._spec.batch_invariant else "off"
        return {"batching": "vllm", "tensor_parallel": str(self._parallel), "batch_invariant": invariant}

    def metrics(self) -> dict[str, float | None]:
        """The share of prompt tokens whose keys and values vLLM had in its prefix cache, from its own counters."""
        counted = {metric.name: getattr(metric, "value", 0) for metric in self._engine.get_metrics()}
        asked = counted.get("vllm:prefix_cache_queries", 0)
        hits = counted.get("vllm:prefix_cache_hits", 0)
        return {"prefix_cache_hit_percent": 100 * hits / asked if asked else None}
