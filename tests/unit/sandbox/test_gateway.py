"""What the gateway lets through and how long it is patient, without a server."""

import itertools
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.gateway.asgi import MAX_BODY_BYTES, Body, BodyTooLarge, ClientGone
from benchmark.gateway.grading_route import GradingRoute, is_submit
from benchmark.gateway.patience import Patience

PREFIX = "/grading/token-1/"
ROUTE = GradingRoute("http://127.0.0.1:1", [PREFIX])


class TestAccepts:
    @pytest.mark.parametrize("tail", ["submit", "submissions/3", "health", "a/b-c_d.e~f", ""])
    def test_below_the_prefix(self, tail: str) -> None:
        assert ROUTE.accepts("GET", (PREFIX + tail).encode())

    @given(st.text(alphabet="/.%\\2eEfF;?#ax \0", max_size=12))
    def test_nothing_that_could_leave_it(self, tail: str) -> None:
        path = PREFIX + tail
        if ROUTE.accepts("GET", path.encode()):
            kept = httpx.URL("http://h").join(path).path
            assert kept == path
            assert kept.startswith(PREFIX)

    @pytest.mark.parametrize("prefix", ["", "/", "no/", "/no", "/a b/", "/a%2f/"])
    def test_an_odd_prefix_is_refused(self, prefix: str) -> None:
        with pytest.raises(ValueError, match="prefix"):
            GradingRoute("http://h", [prefix])
        with pytest.raises(ValueError, match="prefix"):
            GradingRoute("http://h", [])

    def test_submits(self) -> None:
        assert is_submit({"method": "POST", "raw_path": b"/grading/t/submit/"})
        assert not is_submit({"method": "GET", "raw_path": b"/grading/t/submit"})
        assert not is_submit({"method": "POST", "raw_path": b"/grading/t/resubmit"})


def receiving(*messages: dict[str, Any]) -> Callable[[], Any]:
    given = iter(messages)

    async def receive() -> dict[str, Any]:
        return next(given)

    return receive


def part(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


class TestBody:
    async def test_is_put_together(self) -> None:
        receive = receiving(part(b"ab", more=True), part(b"", more=True), part(b"c"))
        assert await Body({"headers": []}, receive).whole() == b"abc"

    @pytest.mark.parametrize("declared", [str(MAX_BODY_BYTES + 1), "-1", "x"])
    async def test_a_declared_length_is_enough_to_refuse(self, declared: str) -> None:
        with pytest.raises(BodyTooLarge):
            await Body({"headers": [(b"content-length", declared.encode())]}, receiving()).whole()

    async def test_one_without_a_length_is_refused_as_soon_as_it_is_over(self) -> None:
        endless = itertools.repeat(part(bytes(1 << 18), more=True))
        with pytest.raises(BodyTooLarge):
            await Body({"headers": []}, receiving(*itertools.islice(endless, 5))).whole()

    async def test_a_cut_one_is_the_clients_end(self) -> None:
        with pytest.raises(ClientGone):
            await Body({"headers": []}, receiving(part(b"a", more=True), {"type": "http.disconnect"})).whole()


class TestPatience:
    def test_grows_to_a_longest_pause(self) -> None:
        patience = Patience(10, longest_pause_s=1)
        assert patience.left()
        assert [round(patience.pause(), 1) for _ in range(6)] == [0.1, 0.2, 0.4, 0.8, 1, 1]

    def test_ends_and_starts_anew_after_a_connection_that_held(self) -> None:
        patience = Patience(0)
        assert not patience.left()
        patience.seconds = 10
        assert not patience.left()
        assert patience.left(held_s=60)
        assert patience.pause() == 0.1
