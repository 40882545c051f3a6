import math

from hypothesis import given
from hypothesis import strategies as st

from frontend.ranking import Band, bands, mean, rankable


def test_zero_is_ranked_and_unscored_is_not() -> None:
    assert bands([None, 0.0, 5.0], [None, 0.1, 0.1]) == [None, Band(2, 2), Band(1, 1)]
    assert [rankable(value) for value in (0.0, None, math.nan, math.inf)] == [True, False, False, False]


def test_the_order_of_addition_does_not_break_a_tie() -> None:
    assert 0.1 + 0.2 != 0.3
    assert bands([0.1 + 0.2, 0.3], [None, None]) == [Band(1, 2), Band(1, 2)]


def test_no_mean_over_unscored() -> None:
    assert mean([10.0, None]) is None
    assert mean([10.0, math.nan]) is None
    assert mean([]) is None
    assert mean([0.0, 10.0]) == 5.0


def test_rows_that_cannot_be_told_apart_share_a_band() -> None:
    assert bands([50.0, 49.0, 20.0, None], [2.0, 2.0, 2.0, None]) == [Band(1, 2), Band(1, 2), Band(3, 3), None]
    assert [str(band) for band in bands([50.0, 20.0], [1.0, 1.0])] == ["1", "2"]
    assert str(Band(1, 2)) == "1–2"


def test_bands_overlap_where_telling_apart_is_not_transitive() -> None:
    assert bands([54.0, 50.0, 46.0], [1.5, 1.5, 1.5]) == [Band(1, 2), Band(1, 3), Band(2, 3)]


def test_equal_values_share_a_rank_without_any_noise() -> None:
    assert bands([50.0, 50.0, 40.0], [None, None, None]) == [Band(1, 2), Band(1, 2), Band(3, 3)]
    assert bands([50.1, 50.0], [None, 2.0]) == [Band(1, 1), Band(2, 2)]
    assert bands([], []) == []


def test_nan_and_infinity_have_no_band() -> None:
    assert bands([math.nan, math.inf, 5.0], [1.0, 1.0, 1.0]) == [None, None, Band(1, 1)]


@given(st.lists(st.tuples(st.one_of(st.none(), st.floats(0, 100)), st.floats(0, 20)), max_size=15))
def test_a_band_is_a_range_of_ranks_and_a_higher_value_never_ranks_lower(
    rows: list[tuple[float | None, float]],
) -> None:
    found = bands([value for value, _ in rows], [2.0] * len(rows))
    count = sum(value is not None for value, _ in rows)
    ranked = [(value, band) for (value, _), band in zip(rows, found, strict=True) if value is not None and band]
    assert len(ranked) == count
    for value, band in ranked:
        assert 1 <= band.low <= band.high <= count
        assert all(band.low <= other.low and band.high <= other.high for less, other in ranked if less < value - 1e-8)
