"""What the runner asks of an engine: load one checkpoint, then complete token sequences greedily, many at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from benchmark.tasks.contract import Completion, Turn


@dataclass(frozen=True)
class Request:
    """One prompt as token ids, how many tokens may follow, and the strings that end the completion.

    Where no tokenizer is at hand, the prompt is `messages` and there are no `tokens`.
    """

    tokens: tuple[int, ...]
    max_tokens: int
    stop: tuple[str, ...] = ()
    messages: tuple[Turn, ...] = ()


class Engine(Protocol):
    """A loaded checkpoint that completes requests. Submitted requests join the running batch at the next `step`."""

    @property
    def sampling(self) -> Mapping[str, Any]:
        """Every decoding setting, for the verdict."""
        ...

    def load(self) -> None:
        """Load the weights. Raises: GradingFault, or the library's own exception, which the caller types."""
        ...

    def probe(self, tokens: tuple[int, ...]) -> None:
        """One prompt through the model. Raises: ArtifactFault: E_NONFINITE when its logits are not finite."""
        ...

    def submit(self, key: int, request: Request) -> None:
        """Queue one request; `key` names its completion. No two unfinished requests share a key."""
        ...

    def step(self) -> list[tuple[int, Completion]]:
        """Advance the batch; the completions that ended now, possibly none. Raises: GradingFault."""
        ...

    def versions(self) -> dict[str, str]:
        """The libraries, the device and the code path that touch the score."""
        ...

    def metrics(self) -> dict[str, float | None]:
        """What it measured of itself, for the verdict."""
        ...
