"""Static, left-padded batches through transformers' `generate`: for models whose attention needs more than slots."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import GenerationConfig, StoppingCriteria, StoppingCriteriaList

from benchmark.tasks.contract import Completion
from grading.runner.engines.protocol import Request
from grading.runner.engines.slot_batch import checked_argmax
from grading.runner.stops import Decoder


class _RowEnds(StoppingCriteria):
    """Ends each row at its own token limit, stop token or stop string."""

    def __init__(self, requests: Sequence[Request], prompt_length: int, decoder: Decoder) -> None:
        self._requests = requests
        self._prompt_length = prompt_length
        self._decoder = decoder

    def __call__(self, input_ids: Tensor, scores: Any, **_: Any) -> Tensor:
        ended = []
        for row, request in zip(input_ids[:, self._prompt_length :].tolist(), self._requests, strict=True):
            done = len(row) >= request.max_tokens or row[-1] in self._decoder.stop_ids
            ended.append(done or self._decoder.at_stop_string(row, request.stop))
        return torch.tensor(ended, device=input_ids.device)


class StaticBatch:
    """Completes all queued requests of a step together, at most `size` at a time, those of similar length together."""

    def __init__(self, model: Any, decoder: Decoder, *, size: int) -> None:
        self._model = model
        self._decoder = decoder
        self._size = size
        self._pending: list[tuple[int, Request]] = []
        # What the checkpoint's own generation_config sets must not fill in for what is unset below.
        model.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]

    def submit(self, key: int, request: Request) -> None:
        """Queue a request."""
        self._pending.append((key, request))

    def step(self) -> list[tuple[int, Completion]]:
        """Complete the `size` longest of the queued prompts."""
        self._pending.sort(key=lambda pair: len(pair[1].tokens), reverse=True)
        batch, self._pending = self._pending[: self._size], self._pending[self._size :]
        requests = [request for _, request in batch]
        if not requests:
            return []
        return [(key, done) for (key, _), done in zip(batch, self._complete(requests), strict=True)]

    def _complete(self, requests: list[Request]) -> list[Completion]:
        longest = max(len(r.tokens) for r in requests)
        pad = min(self._decoder.stop_ids, default=0)
        ids = torch.tensor([[pad] * (longest - len(r.tokens)) + list(r.tokens) for r in requests])
        mask = torch.tensor([[0] * (longest - len(r.tokens)) + [1] * len(r.tokens) for r in requests])
        output = self._model.generate(
            input_ids=ids.to(self._model.device),
            attention_mask=mask.to(self._model.device),
            generation_config=greedy_config(max(r.max_tokens for r in requests), pad),
            stopping_criteria=StoppingCriteriaList([_RowEnds(requests, longest, self._decoder)]),
            return_dict_in_generate=True,
            output_logits=True,
        )
        for logits in output.logits:
            checked_argmax(logits)
        rows = output.sequences[:, longest:].tolist()
        return [self._completion(row, request) for row, request in zip(rows, requests, strict=True)]

    def _completion(self, row: list[int], request: Request) -> Completion:
        for end in range(1, min(len(row), request.max_tokens) + 1):
            if row[end - 1] in self._decoder.stop_ids:
                return Completion(self._decoder.text(row[: end - 1], request.stop), end, "stop")
            if self._decoder.at_stop_string(row[:end], request.stop):
                return Completion(self._decoder.text(row[:end], request.stop), end, "stop")
        kept = row[: request.max_tokens]
        return Completion(self._decoder.text(kept, request.stop), len(kept), "length")


def greedy_config(max_new_tokens: int, pad: int) -> GenerationConfig:
    """Greedy decoding with every field that could change it set to its neutral value."""
    return GenerationConfig(  # type: ignore[no-untyped-call]
        do_sample=False,
        num_beams=1,
        temperature=None,
        top_p=None,
        top_k=None,
        min_p=None,
        typical_p=None,
        repetition_penalty=1.0,
        length_penalty=1.0,
        no_repeat_ngram_size=0,
        max_new_tokens=max_new_tokens,
        pad_token_id=pad,
        eos_token_id=None,
        use_cache=True,
    )
