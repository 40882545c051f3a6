"""A worker lives for months: what a command held is given back at its end, not at some later collection."""

import pytest

from benchmark.sandbox.contract import Limits
from tests.journeys.sandbox.conftest import ALL, Bench
from tests.support.descriptors import growth, held_open

pytestmark = pytest.mark.parametrize("sandbox", ALL, indirect=True)


def test_commands_leave_no_descriptor_behind(bench: Bench) -> None:
    def ended_and_stopped() -> None:
        bench.run("echo done", limits=Limits(disk_bytes=1 << 30))
        bench.start("sleep 100").stop(0)

    # A connection to the engine may be kept for the next request.
    assert growth(ended_and_stopped, held_open, times=5) <= 2
