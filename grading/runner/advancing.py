"""Advancing episodes: at once where they only compute, in threads where they wait for other processes."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Protocol, Self

from benchmark.tasks.contract import Evaluator, Outcome
from grading.runner.engines.protocol import Request

GATHER_S = 1.0
"""An engine with nothing to do waits this long for further prompts after the first, so that its batch is full."""

Step = Request | Outcome
"""Encoding a prompt takes milliseconds of a core: it belongs to advancing, so that the engine need not wait for it."""
Advance = Callable[[], Step]


class Advancing(Protocol):
    """Episodes on their way to their next prompt. No two unfinished ones share a key."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Returns when no episode is being advanced any more."""
        ...

    def begin(self, key: int, advance: Advance) -> None:
        """Set out to advance an episode."""
        ...

    def arrived(self, *, idle: bool) -> tuple[int, Step] | None:
        """One that has got somewhere; None where none has, after waiting while the engine is `idle`.

        Raises: what advancing it raised.
        """
        ...


class AtOnce:
    """One after the other, in this thread."""

    def __init__(self) -> None:
        self._begun: deque[tuple[int, Advance]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def begin(self, key: int, advance: Advance) -> None:
        self._begun.append((key, advance))

    def arrived(self, *, idle: bool) -> tuple[int, Step] | None:
        if not self._begun:
            return None
        key, advance = self._begun.popleft()
        return key, advance()


class InThreads:
    """Up to `threads` at a time, while the engine goes on with the others' prompts."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="episode")
        self._begun: dict[Future[Step], int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)

    def begin(self, key: int, advance: Advance) -> None:
        self._begun[self._threads.submit(advance)] = key

    def arrived(self, *, idle: bool) -> tuple[int, Step] | None:
        if idle:
            wait(self._begun, return_when=FIRST_COMPLETED)
            wait(self._begun, timeout=GATHER_S, return_when=ALL_COMPLETED)
        future = next((future for future in self._begun if future.done()), None)
        return None if future is None else (self._begun.pop(future), future.result())


def advancing(evaluator: Evaluator) -> Advancing:
    """As many at a time as the evaluator's `parallel_steps` says."""
    threads = int(getattr(evaluator, "parallel_steps", 1))
    return InThreads(threads) if threads > 1 else AtOnce()
