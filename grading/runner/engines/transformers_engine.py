"""The transformers engine: batched greedy decoding with the scores of one prompt at a time."""

import sys
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM

from benchmark.tasks.contract import Completion
from grading.contract import RunnerSpec
from grading.runner.checkpoint import Checkpoint
from grading.runner.engines.layout import lay_out_for_few_rows
from grading.runner.engines.protocol import Request
from grading.runner.engines.slot_batch import SlotBatch, nonfinite_fault
from grading.runner.engines.static_batch import StaticBatch
from grading.runner.faults import first_line
from grading.runner.stops import Decoder

TOLERANCE = {"float32": 1e-3, "bfloat16": 0.05, "float16": 0.02}
"""Largest difference of logits between slot and ordinary attention, as a share of the largest logit."""


class TransformersEngine:
    """One checkpoint in this process. `probe` must follow `load`: it decides how batches are run."""

    def __init__(self, spec: RunnerSpec, checkpoint: Checkpoint, decoder: Decoder, context: int) -> None:
        self._spec = spec
        self._checkpoint = checkpoint
        self._decoder = decoder
        self._context = context
        self._model: Any = None
        self._batch: SlotBatch | StaticBatch | None = None
        self.sampling: Mapping[str, Any] = {
            "do_sample": False,
            "num_beams": 1,
            "temperature": None,
            "top_p": None,
            "top_k": None,
            "repetition_penalty": 1.0,
            "no_repeat_ngram_size": 0,
            "stop_token_ids": sorted(decoder.stop_ids),
        }

    def load(self) -> None:
        """Read the weights. Raises: what transformers raises."""
        torch.manual_seed(self._spec.seed)
        if self._spec.threads:
            torch.set_num_threads(self._spec.threads)
        model: Any = AutoModelForCausalLM.from_pretrained(
            self._checkpoint.path,
            dtype=getattr(torch, self._spec.dtype),
            device_map=self._spec.device,
            attn_implementation="sdpa",
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
        )
        self._model = model.eval()
        if self._spec.device == "cpu":
            lay_out_for_few_rows(self._model)

    @torch.inference_mode()
    def probe(self, tokens: tuple[int, ...]) -> None:
        """Finite logits on one prompt, and whether slot attention computes the same. Raises: ArtifactFault."""
        expected = self._model(torch.tensor([tokens], device=self._model.device)).logits[0, -1].float()
        if not bool(torch.isfinite(expected).all()):
            raise nonfinite_fault()
        size = self._spec.batch_size
        if self._slots_agree(tokens, expected):
            self._batch = SlotBatch(self._model, self._decoder, slots=size, context=self._context)
        else:
            self._model.set_attn_implementation("sdpa")
            self._batch = StaticBatch(self._model, self._decoder, size=size)

    def _slots_agree(self, tokens: tuple[int, ...], expected: Tensor) -> bool:
        try:
            trial = SlotBatch(self._model, self._decoder, slots=1, context=self._context)
            found = trial.logits(tokens, prefix=len(tokens) // 2).float()
        except Exception as error:  # whatever a model of another kind raises: it is run the ordinary way
            sys.stderr.write(f"static batches: {first_line(error)}\n")
            return False
        allowed = TOLERANCE[self._spec.dtype] * float(expected.abs().max())
        return bool((found - expected).abs().max() <= allowed)

    def submit(self, key: int, request: Request) -> None:
        """Queue one request."""
        self._ready().submit(key, request)

    @torch.inference_mode()
    def step(self) -> list[tuple[int, Completion]]:
        """Advance the batch. Raises: ArtifactFault: E_NONFINITE."""
        return self._ready().step()

    def _ready(self) -> SlotBatch | StaticBatch:
        if self._batch is None:
            raise RuntimeError("probe() comes before the first request")
        return self._batch

    def versions(self) -> dict[str, str]:
        """How batches are run."""
        return {"batching": "slots" if isinstance(self._batch, SlotBatch) else "static"}

    def metrics(self) -> dict[str, float | None]:
        """None."""
        return {}
