"""A request on its way to the provider while it still comes in, so that a long one does not wait to be whole."""

from collections.abc import AsyncIterator, Callable

from benchmark.gateway.asgi import Body


class Passing:
    """The pieces of `body`; the last one only when `look` has seen the whole.

    Iterating raises what `look` raises. The request is broken off then: a provider never has a whole one that was not
    looked at, and does not work on a part.
    """

    def __init__(self, body: Body, look: Callable[[bytearray], object]) -> None:
        self._body, self._look = body, look

    async def __aiter__(self) -> AsyncIterator[bytes]:
        whole, last = bytearray(), b""
        async for piece in self._body:
            if last:
                yield last
            whole += piece
            last = piece
        self._look(whole)
        yield last
