"""Tests that share something run in one process."""

import pytest

from tests.support.platform import ROOT
from tests.support.spreading import LONGEST, TOGETHER, group_of, place_of


@pytest.mark.parametrize("path", sorted({*TOGETHER, *LONGEST}))
def test_what_is_named_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_a_file_stays_together_and_so_does_a_folder_with_one_platform() -> None:
    clis = {group_of(f"tests/journeys/agent_clis/test_{name}.py::test_a[b::c]") for name in ("failures", "sessions")}
    assert clis == set(TOGETHER)
    assert group_of("tests/journeys/test_evaluate.py::TestIt::test_a") == "tests/journeys/test_evaluate.py"


def test_the_longest_begin_first() -> None:
    told = [
        f"tests/{name}::test" for name in ("unit/test_a.py", "journeys/test_main_job.py", "journeys/agent_clis/b.py")
    ]
    assert sorted(told, key=place_of) == told[::-1]
