"""Key-value memory by slot, and the attention that reads it: rows of different lengths decode together unpadded.

A slot holds one sequence. All sequences that begin with one common prefix (worked examples, instructions) share its
keys and values, which are computed and read once. Attention over prefix and slot is one softmax over both parts, so the
result is that of ordinary attention up to rounding.
"""

from typing import Any

import torch
from torch import Tensor
from transformers import Cache

GROW_BY = 256


class UnsupportedAttentionError(Exception):
    """The model's attention is not plain causal softmax attention over all earlier tokens."""


class SlotCache(Cache):
    """Keys and values of `slots` sequences.

    Per layer: keys and values of shape (slots, key-value heads, capacity, head size). The shared prefix: keys of shape
    (key-value heads, head size, length) and values of (key-value heads, length, head size). `aim` says which slots and
    columns the next forward pass writes.
    """

    def __init__(self, slots: int, device: torch.device) -> None:
        super().__init__(layers=[])
        self._slots = slots
        self._device = device
        self._keys: list[Tensor] = []
        self._values: list[Tensor] = []
        self.prefix: list[tuple[Tensor, Tensor]] = []
        self.prefix_length = 0
        self._rows = slice(0, 0)
        self._columns = torch.empty(0)
        self._width = 0
        self.bias = torch.empty(0)
        self.without_prefix: Tensor | None = None

    def aim(self, first_slot: int, columns: Tensor, with_prefix: list[bool], dtype: torch.dtype) -> None:
        """Write the next tokens at `columns` (rows, new tokens) of the slots from `first_slot`; mask what lies behind.

        `with_prefix` says for each row whether its sequence begins with the shared prefix.
        """
        rows = columns.shape[0]
        self._rows = slice(first_slot, first_slot + rows)
        self._columns = columns
        self._width = int(columns.max()) + 1
        hidden = torch.arange(self._width, device=self._device)[None, None, :] > columns[:, :, None]
        # (rows, 1, 1, new tokens, width), added to scores of (rows, key-value heads, group, new tokens, width)
        self.bias = torch.zeros(hidden.shape, dtype=dtype, device=self._device).masked_fill_(hidden, float("-inf"))[
            :, None, None
        ]
        hide = [not w for w in with_prefix]
        any_hidden = bool(self.prefix) and any(hide)
        self.without_prefix = torch.tensor(hide, device=self._device)[:, None, None, None] if any_hidden else None

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """Store new keys and values of (rows, key-value heads, new tokens, head size); return the aimed slots'."""
        self._make_room(key_states, layer_idx)
        rows = torch.arange(self._rows.start, self._rows.stop, device=self._device)[:, None]
        self._keys[layer_idx][rows, :, self._columns] = key_states.transpose(1, 2)
        self._values[layer_idx][rows, :, self._columns] = value_states.transpose(1, 2)
        return self._keys[layer_idx][self._rows, :, : self._width], self._values[layer_idx][
            self._rows, :, : self._width
        ]

    def _make_room(self, like: Tensor, layer_idx: int) -> None:
        if layer_idx == len(self._keys):
            for store in (self._keys, self._values):
                store.append(like.new_zeros(self._slots, like.shape[1], 0, like.shape[3]))
        short = self._width - self._keys[layer_idx].shape[2]
        if short > 0:
            extra = -(-short // GROW_BY) * GROW_BY
            for store in (self._keys, self._values):
                store[layer_idx] = torch.nn.functional.pad(store[layer_idx], (0, 0, 0, extra))

    def move(self, source: int, target: int, length: int) -> None:
        """Copy the first `length` columns of one slot to another."""
        for store in (*self._keys, *self._values):
            store[target, :, :length] = store[source, :, :length]

    def keep_as_prefix(self, slot: int, length: int) -> None:
        """Make the first `length` columns of a slot the shared prefix."""
        self.prefix = [
            (keys[slot, :, :length].transpose(1, 2).contiguous(), values[slot, :, :length].clone())
            for keys, values in zip(self._keys, self._values, strict=True)
        ]
        self.prefix_length = length

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Columns in view; models that are given positions do not need it."""
        return self._width


class SlotAttention:
    """An attention function for transformers' AttentionInterface that reads a `SlotCache`."""

    def __init__(self, cache: SlotCache, context: int) -> None:
        self._cache = cache
        self._context = context

    def __call__(  # noqa: PLR0917 — transformers' signature
        self,
        module: torch.nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None,
        scaling: float | None = None,
        **options: Any,
    ) -> tuple[Tensor, None]:
        """Query (rows, heads, new tokens, head size) to output (rows, new tokens, heads, head size)."""
        self._refuse_unsupported(options)
        rows, heads, new, size = query.shape
        groups = key.shape[1]
        query = query * (scaling if scaling is not None else size**-0.5)
        # The heads that share keys become further query positions: no copy of the keys is needed.
        query = query.reshape(rows, groups, -1, size)
        own = query @ key.transpose(2, 3)
        own = (own.view(rows, groups, -1, new, own.shape[-1]) + self._cache.bias).view_as(own)
        if not self._cache.prefix:
            output = _softmax(own) @ value
        else:
            output = self._over_prefix(query, own, value, int(module.layer_idx))  # type: ignore[arg-type]
        return output.reshape(rows, heads, new, value.shape[-1]).transpose(1, 2), None

    def _over_prefix(self, query: Tensor, own: Tensor, value: Tensor, layer: int) -> Tensor:
        keys, values = self._cache.prefix[layer]
        rows, groups, count, _ = query.shape
        flat = query.transpose(0, 1).flatten(1, 2)
        shared = (flat @ keys).view(groups, rows, count, -1).transpose(0, 1)
        if self._cache.without_prefix is not None:
            shared = shared.masked_fill(self._cache.without_prefix, float("-inf"))
        weights = _softmax(torch.cat([shared, own], dim=-1))
        on_prefix, on_own = torch.split(weights, [shared.shape[-1], own.shape[-1]], dim=-1)
        part = on_prefix.transpose(0, 1).flatten(1, 2) @ values
        return on_own @ value + part.view(groups, rows, count, -1).transpose(0, 1)

    def _refuse_unsupported(self, options: dict[str, Any]) -> None:
        window = options.get("sliding_window")
        if window is not None and window < self._context:
            raise UnsupportedAttentionError(f"a sliding window of {window} tokens")
        for name in ("softcap", "s_aux"):
            if options.get(name) is not None:
                raise UnsupportedAttentionError(name)


def _softmax(scores: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1, dtype=torch.float32).to(scores.dtype)
