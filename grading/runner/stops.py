"""Where a completion ends: stop tokens from the checkpoint's files, stop strings from the task."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class StopTokens:
    """The end-of-sequence ids of the three places that may name some."""

    config: tuple[int, ...]
    generation_config: tuple[int, ...]
    tokenizer: tuple[int, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        """What ends a completion: generation_config's ids (config's where that names none) and the tokenizer's."""
        return tuple(sorted({*(self.generation_config or self.config), *self.tokenizer}))

    @classmethod
    def read(cls, checkpoint: Path, tokenizer: Any) -> "StopTokens":
        """From config.json, generation_config.json and the loaded tokenizer."""
        return cls(
            config=_eos(checkpoint / "config.json"),
            generation_config=_eos(checkpoint / "generation_config.json"),
            tokenizer=_as_ids(tokenizer.eos_token_id),
        )


def _eos(path: Path) -> tuple[int, ...]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ()
    if not isinstance(raw, dict):
        return ()
    text = raw.get("text_config")
    nested = text.get("eos_token_id") if isinstance(text, dict) else None
    return _as_ids(raw.get("eos_token_id", nested))


def _as_ids(value: Any) -> tuple[int, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(v for v in values if isinstance(v, int) and not isinstance(v, bool))


def cut_at_stops(text: str, stop: Sequence[str]) -> str:
    """The text before the first stop string."""
    cuts = [at for s in stop if (at := text.find(s)) >= 0]
    return text[: min(cuts)] if cuts else text


class Decoder:
    """Token ids to text, the same way for every engine."""

    def __init__(self, tokenizer: Any, stop_ids: Sequence[int]) -> None:
        self._tokenizer = tokenizer
        self.stop_ids = frozenset(stop_ids)

    def text(self, tokens: Sequence[int], stop: Sequence[str]) -> str:
        """Without special tokens and without a stop string and what follows it."""
        return cut_at_stops(self._decode(tokens), stop)

    def at_stop_string(self, tokens: Sequence[int], stop: Sequence[str]) -> bool:
        """Whether the newest tokens complete a stop string."""
        if not stop:
            return False
        # A token holds at least a byte, so a stop string reaches back over at most as many tokens as it has bytes.
        reach = max(len(s.encode()) for s in stop) + 1
        tail = self._decode(tokens[-reach:])
        return any(s in tail for s in stop) and any(s in self._decode(tokens) for s in stop)

    def _decode(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False))
