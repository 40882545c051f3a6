"""Stated values of any shape."""

from typing import Any

import pytest

from bundles.dialects.agent2 import agent2_read
from bundles.dialects.values import numbered


@pytest.mark.parametrize(
    ("stated", "number"), [(3, 3), ("3", 3), (3.0, 3), (0, 7), (-1, 7), (2**31, 7), (1e300, 7), (None, 7), ([], 7)]
)
def test_a_submission_has_the_stated_number_or_its_place(stated: Any, number: int) -> None:
    assert numbered(stated, 7) == number


def test_a_manifest_of_ours_is_read_so() -> None:
    run, _ = agent2_read({"submissions": [{"number": -1}, {"number": 10**30}]}, "")
    assert [claim.number for claim in run.submissions] == [1, 2]
