"""Advancing episodes: at once where they only compute, in threads where they wait for other processes."""

import os
import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from benchmark.tasks.contract import Evaluator, Outcome, Prompt
from grading.runner.engines.protocol import Request

GATHER_S = 1.0
"""An engine with nothing to do waits this long for further prompts after the first, so that its batch is full."""

SWITCH_S = 0.0005
"""How long another thread may keep the engine's from going on."""


@dataclass(frozen=True)
class Asked:
    """What an episode asks next, and the request that it became; None where the context has no room left."""

    prompt: Prompt
    text: str
    request: Request | None


Step = Asked | Outcome
Advance = Callable[[], Prompt | Outcome]
Encode = Callable[[Prompt], Asked]
"""Takes milliseconds of a core, for which an engine should not wait; tokenizers can be used from several threads."""


class Advancing(Protocol):
    """Episodes on their way to their next prompt. No two unfinished ones share a key."""

    @property
    def looks_ahead(self) -> bool:
        """Whether episodes may begin before it is their turn, so that their first prompts are ready when it is."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Returns when no episode is being advanced any more."""
        ...

    def begin(self, key: int, advance: Advance, encode: Encode) -> None:
        """Set out to advance an episode and to encode what it asks."""
        ...

    def due(self, key: int) -> None:
        """It is that episode's turn: what it has got to may arrive."""
        ...

    def arrived(self, *, idle: bool) -> tuple[int, Step] | None:
        """One that has got somewhere; None where none has, after waiting while the engine is `idle`.

        Raises: what advancing it raised.
        """
        ...


class _Switching:
    """Threads work beside the engine's own, which waits for none of them longer than it has to."""

    def __enter__(self) -> Self:
        self._switch_s = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_S)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setswitchinterval(self._switch_s)


class AtOnce(_Switching):
    """One after the other, in this thread; prompts are encoded on all cores. What arrives is in the order of turns."""

    looks_ahead = True

    def __init__(self) -> None:
        self._encoders = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="encode")
        self._begun: dict[int, Future[Step]] = {}
        self._due: deque[int] = deque()

    def __exit__(self, *_: object) -> None:
        self._encoders.shutdown(cancel_futures=True)
        super().__exit__()

    def begin(self, key: int, advance: Advance, encode: Encode) -> None:
        self._begun[key] = self._advanced(advance, encode)

    def due(self, key: int) -> None:
        self._due.append(key)

    def arrived(self, *, idle: bool) -> tuple[int, Step] | None:
        if not self._due:
            return None
        key = self._due.popleft()
        return key, self._begun.pop(key).result()

    def _advanced(self, advance: Advance, encode: Encode) -> Future[Step]:
        done: Future[Step] = Future()
        try:
            step = advance()
        except Exception as error:  # raised when it is this episode's turn: what others have reached counts
            done.set_exception(error)
            return done
        if isinstance(step, Prompt):
            return self._encoders.submit(encode, step)
        done.set_result(step)
        return done


class InThreads(_Switching):
    """Up to `threads` at a time, while the engine goes on with the others' prompts. Whatever has begun may arrive."""

    looks_ahead = False

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="episode")
        self._begun: dict[Future[Step], int] = {}

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        super().__exit__()

    def begin(self, key: int, advance: Advance, encode: Encode) -> None:
        self._begun[self._threads.submit(_advanced, advance, encode)] = key

    def due(self, key: int) -> None: ...

    def arrived(self, *, idle: bool) -> tuple[int, Step] | None:
        if idle:
            wait(self._begun, return_when=FIRST_COMPLETED)
            wait(self._begun, timeout=GATHER_S, return_when=ALL_COMPLETED)
        future = next((future for future in self._begun if future.done()), None)
        return None if future is None else (self._begun.pop(future), future.result())


def _advanced(advance: Advance, encode: Encode) -> Step:
    step = advance()
    return encode(step) if isinstance(step, Prompt) else step


def advancing(evaluator: Evaluator) -> Advancing:
    """As many at a time as the evaluator's `parallel_steps` says."""
    threads = int(getattr(evaluator, "parallel_steps", 1))
    return InThreads(threads) if threads > 1 else AtOnce()
