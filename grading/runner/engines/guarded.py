"""An engine whose every failure while it generates is a typed fault."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from benchmark.tasks.contract import Completion
from grading.runner.engines.protocol import Engine, Request
from grading.runner.faults import GradingFault, InfraFault, first_line
from grading.runner.load_errors import is_out_of_memory, memory_fault

Result = TypeVar("Result")


class GuardedEngine:
    """Wraps an engine; `load` is left to its caller, who types its errors with what it knows of loading."""

    def __init__(self, engine: Engine, weights_bytes: int, device_bytes: int) -> None:
        self._engine = engine
        self._weights_bytes = weights_bytes
        self._device_bytes = device_bytes

    @property
    def sampling(self) -> Mapping[str, Any]:
        """The engine's own."""
        return self._engine.sampling

    def load(self) -> None:
        """The engine's own."""
        self._engine.load()

    def probe(self, tokens: tuple[int, ...]) -> None:
        """Raises: GradingFault."""
        self._guard(lambda: self._engine.probe(tokens))

    def submit(self, key: int, request: Request) -> None:
        """Raises: GradingFault."""
        self._guard(lambda: self._engine.submit(key, request))

    def step(self) -> list[tuple[int, Completion]]:
        """Raises: GradingFault."""
        return self._guard(self._engine.step)

    def versions(self) -> dict[str, str]:
        """The engine's own."""
        return self._engine.versions()

    def metrics(self) -> dict[str, float | None]:
        """The engine's own."""
        return self._engine.metrics()

    def _guard(self, action: Callable[[], Result]) -> Result:
        try:
            return action()
        except GradingFault:
            raise
        except Exception as error:
            if is_out_of_memory(error):
                raise memory_fault(error, self._weights_bytes, self._device_bytes) from error
            raise InfraFault("I_ENGINE", f"the engine failed: {first_line(error)}") from error
