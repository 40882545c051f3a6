"""Continuous greedy decoding with transformers models: a finished row makes room for the next prompt at once."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface

from benchmark.tasks.contract import Completion, FinishReason
from grading.runner.engines.protocol import Request
from grading.runner.faults import ArtifactFault
from grading.runner.slots import SlotAttention, SlotCache
from grading.runner.stops import Decoder

ATTENTION = "agent2_slots"
PREFILL_CHUNK = 512
SHORTEST_PREFIX = 16
"""Tokens; sharing less is not worth a second attention part."""


@dataclass
class _Slot:
    key: int | None = None
    request: Request = field(default_factory=lambda: Request((), 0))
    shared: bool = False
    """Whether its sequence begins with the shared prefix, which its own columns then leave out."""
    held: list[int] = field(default_factory=list)
    """Tokens whose keys and values its columns hold; kept after the end, for a next prompt that begins alike."""
    generated: list[int] = field(default_factory=list)


def common_length(sequences: Sequence[Sequence[int]]) -> int:
    """How many first elements all sequences have in common."""
    # All lie between the first and the last in lexical order, so these two have the least in common.
    first, last = min(map(list, sequences)), max(map(list, sequences))
    length = 0
    for a, b in zip(first, last, strict=False):
        if a != b:
            break
        length += 1
    return length


def checked_argmax(logits: Tensor) -> list[int]:
    """The most likely token of each row of (rows, vocabulary). Raises: ArtifactFault: E_NONFINITE."""
    best, tokens = logits.float().max(dim=-1)
    if not bool(torch.isfinite(best).all()):
        raise nonfinite_fault()
    return [int(t) for t in tokens]


def nonfinite_fault() -> ArtifactFault:
    """The model computes NaN or infinity."""
    return ArtifactFault(
        "E_NONFINITE",
        "the model's logits are not finite",
        fix="Training diverged or overflowed: submit an earlier checkpoint, lower the learning rate, use bfloat16.",
    )


class SlotBatch:
    """Up to `slots` sequences of one model in flight. Switches the model to the attention that reads its cache."""

    def __init__(self, model: Any, decoder: Decoder, *, slots: int, context: int) -> None:
        self._model = model
        self._decoder = decoder
        self._device = model.device
        self._cache = SlotCache(slots, self._device)
        AttentionInterface.register(ATTENTION, SlotAttention(self._cache, context))
        model.set_attn_implementation(ATTENTION)
        self._slots = [_Slot() for _ in range(slots)]
        self._pending: deque[tuple[int, Request]] = deque()
        self._prefix: tuple[int, ...] | None = None
        self._finished: list[tuple[int, Completion]] = []

    def submit(self, key: int, request: Request) -> None:
        """Queue a request."""
        self._pending.append((key, request))

    def step(self) -> list[tuple[int, Completion]]:
        """Admit what fits, decode one token of every row, return what ended."""
        self._admit()
        self._compact()
        active = [slot for slot in self._slots if slot.key is not None]
        if active:
            self._decode(active)
        finished, self._finished = self._finished, []
        return finished

    def logits(self, tokens: Sequence[int], prefix: int) -> Tensor:
        """Logits (vocabulary) after `tokens` whose first `prefix` are shared; only before anything is submitted."""
        self._share(tuple(tokens[:prefix]))
        return self._prefill(0, tokens[prefix:], 0, shared=True)

    def _admit(self) -> None:
        if self._pending and self._prefix is None:
            prompts = [request.tokens for _, request in self._pending]
            # At least one token is left to each prompt, so that there is something to compute its first token from.
            length = min(common_length(prompts), min(len(p) for p in prompts) - 1)
            self._share(prompts[0][:length] if len(prompts) > 1 and length >= SHORTEST_PREFIX else ())
        while self._pending and (free := [i for i, slot in enumerate(self._slots) if slot.key is None]):
            key, request = self._pending.popleft()
            self._start(key, request, free)

    def _share(self, prefix: tuple[int, ...]) -> None:
        self._prefix = prefix
        if prefix:
            self._prefill(0, prefix, 0, shared=False)
            self._cache.keep_as_prefix(0, len(prefix))

    def _start(self, key: int, request: Request, free: list[int]) -> None:
        prefix = self._prefix or ()
        shared = bool(prefix) and request.tokens[: len(prefix)] == prefix and len(request.tokens) > len(prefix)
        own = request.tokens[len(prefix) :] if shared else request.tokens

        def reusable(index: int) -> int:
            slot = self._slots[index]
            return min(common_length([slot.held, own]), len(own) - 1) if slot.shared == shared else 0

        index = max(free, key=reusable)
        kept = reusable(index)
        slot = _Slot(key, request, shared, list(own))
        self._slots[index] = slot
        logits = self._prefill(index, own[kept:], kept, shared=shared)
        self._accept(slot, checked_argmax(logits[None])[0])

    def _prefill(self, index: int, tokens: Sequence[int], start: int, *, shared: bool) -> Tensor:
        """Compute `tokens` into a slot from column `start` on; the logits (vocabulary) after the last."""
        for at in range(0, len(tokens), PREFILL_CHUNK):
            chunk = tokens[at : at + PREFILL_CHUNK]
            columns = torch.arange(start + at, start + at + len(chunk), device=self._device)[None]
            logits = self._forward(index, torch.tensor([chunk], device=self._device), columns, [shared])
        return logits[0]

    def _decode(self, active: list[_Slot]) -> None:
        tokens = torch.tensor([[slot.generated[-1]] for slot in active], device=self._device)
        columns = torch.tensor([[len(slot.held)] for slot in active], device=self._device)
        logits = self._forward(0, tokens, columns, [slot.shared for slot in active])
        for slot, token in zip(active, checked_argmax(logits), strict=True):
            slot.held.append(slot.generated[-1])
            self._accept(slot, token)

    def _forward(self, first: int, tokens: Tensor, columns: Tensor, shared: list[bool]) -> Tensor:
        """Run (rows, new) tokens of the slots from `first`; logits (rows, vocabulary) after each row's last."""
        offset = torch.tensor([[self._cache.prefix_length if s else 0] for s in shared], device=self._device)
        self._cache.aim(first, columns, shared, self._model.dtype)
        output = self._model(
            input_ids=tokens,
            position_ids=columns + offset,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits: Tensor = output.logits[:, -1]
        return logits

    def _accept(self, slot: _Slot, token: int) -> None:
        slot.generated.append(token)
        ended: FinishReason | None = None
        text_tokens = slot.generated
        if token in self._decoder.stop_ids:
            ended, text_tokens = "stop", slot.generated[:-1]
        elif self._decoder.at_stop_string(slot.generated, slot.request.stop):
            ended = "stop"
        elif len(slot.generated) >= slot.request.max_tokens:
            ended = "length"
        if ended is not None and slot.key is not None:
            text = self._decoder.text(text_tokens, slot.request.stop)
            self._finished.append((slot.key, Completion(text, len(slot.generated), ended)))
            slot.key = None

    def _compact(self) -> None:
        """Move running slots to the front, so that one contiguous range of the cache is decoded."""
        front, back = 0, len(self._slots) - 1
        while True:
            while front < back and self._slots[front].key is not None:
                front += 1
            while back > front and self._slots[back].key is None:
                back -= 1
            if front >= back:
                return
            self._cache.move(back, front, len(self._slots[back].held))
            self._slots[front], self._slots[back] = self._slots[back], _Slot()
