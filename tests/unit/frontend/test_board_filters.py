"""Whatever stands in an address: filters, or a complaint that names the parameter. Never anything else."""

from urllib.parse import urlencode

from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from frontend.bad_query import BadQuery
from frontend.board.filters import Filters
from frontend.board.parameters import PARAMETERS, budget_text, budget_words, seconds

NAMES = st.one_of(st.sampled_from(sorted(PARAMETERS.values())), st.text(max_size=12))
VALUES = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["L1", "free", "12h", "2026-04-12", "-mean", "published", "checked", "gain", "runs", "gsm8k", ""]),
)


def told(query: QueryDict) -> tuple[Filters | None, str]:
    """The filters, or what is wrong and with which parameter."""
    try:
        return Filters.read(query), ""
    except BadQuery as error:
        return None, error.parameter and error.message


@given(st.lists(st.tuples(NAMES, VALUES), max_size=8))
def test_an_address_is_filters_or_a_named_complaint(pairs: list[tuple[str, str]]) -> None:
    query = QueryDict(urlencode(pairs, errors="replace"))
    filters, complaint = told(query)
    if not filters:
        assert complaint
        return
    assert Filters.read(QueryDict(filters.query)) == filters
    str(filters.standings())
    for name, values in filters.chosen.items():
        for value in values:
            Filters.read(QueryDict(filters.without(name, value)))


@given(st.binary(max_size=60))
def test_raw_bytes_in_an_address(raw: bytes) -> None:
    filters, complaint = told(QueryDict(raw))
    assert bool(filters) != bool(complaint)


@given(st.integers(1, 10**6))
def test_budgets_are_written_in_the_largest_unit_and_read_back(budget_s: int) -> None:
    assert seconds(budget_text(budget_s)) == budget_s


def test_budgets_in_words() -> None:
    assert [budget_words(s) for s in (43200, 420, 90)] == ["12 h", "7 min", "90 s"]
