import math

from hypothesis import given
from hypothesis import strategies as st

from frontend.ranking import mean, rankable, ranks

SCORES = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True), st.floats(0, 100))


def test_ties_share_a_rank_and_the_next_is_skipped() -> None:
    assert ranks([50.0, 80.0, 80.0, 10.0]) == [3, 1, 1, 4]


def test_zero_is_ranked_and_unscored_is_not() -> None:
    assert ranks([None, 0.0, 5.0]) == [None, 2, 1]


def test_nan_and_infinity_are_never_ranked_in_either_direction() -> None:
    assert ranks([math.nan, math.inf, -math.inf, 1.0]) == [None, None, None, 1]


def test_the_order_of_addition_does_not_break_a_tie() -> None:
    assert 0.1 + 0.2 != 0.3
    assert ranks([0.1 + 0.2, 0.3]) == [1, 1]


@given(st.lists(SCORES))
def test_a_rank_counts_the_better_ones(values: list[float | None]) -> None:
    for value, rank in zip(values, ranks(values), strict=True):
        assert (rank is not None) == rankable(value)
        if value is not None and rank is not None:
            better = [
                other for other in values if other is not None and rankable(other) and round(other, 9) > round(value, 9)
            ]
            assert rank == len(better) + 1


def test_no_mean_over_unscored() -> None:
    assert mean([10.0, None]) is None
    assert mean([10.0, math.nan]) is None
    assert mean([]) is None
    assert mean([0.0, 10.0]) == 5.0
