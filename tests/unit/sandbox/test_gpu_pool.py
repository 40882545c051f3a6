"""GPUs are lent to one run at a time."""

import pytest

from benchmark.sandbox.contract import SandboxFault
from benchmark.services.gpu_pool import GpuPool


def test_each_is_lent_once_and_comes_back() -> None:
    pool = GpuPool(["0", "1", "2"])
    with pool.lent(2) as mine:
        assert mine == ("0", "1")
        with pool.lent(1) as theirs:
            assert theirs == ("2",)
        with pytest.raises(SandboxFault, match="needs 2 GPUs and 1 of 3"), pool.lent(2):
            pass
    with pool.lent(3) as every:
        assert every == ("0", "1", "2")


def test_an_adopted_agent_keeps_those_it_has() -> None:
    pool = GpuPool(["0", "1", "2"])
    with pool.lent(1, known=["1"]) as adopted, pool.lent(2) as others:
        assert (adopted, others) == (("1",), ("0", "2"))


def test_all_is_shared_and_none_is_none() -> None:
    shared = GpuPool(["all"])
    with shared.lent(1) as one, shared.lent(1) as other:
        assert one == other == ("all",)
    with GpuPool([]).lent(0) as none:
        assert none == ()
