"""Agreement against published worked examples, and against another implementation (NLTK's `AnnotationTask`)."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask

from traces.agreement import (
    Label,
    alpha_interval,
    cohen_kappa,
    nominal_alpha,
    pair_agreements,
    raw_agreement,
    tag_agreements,
)

KRIPPENDORFF = "Krippendorff 2011, Computing Krippendorff's Alpha-Reliability"
EXAMPLES = {
    # Section A: two observers, binary.
    "A": (("0100000010", "1110010000"), 0.095),
    # Section B: two observers, nominal.
    "B": (("aabbdcccedda", "babbbccceddd"), 0.692),
    # Section C: four observers, nominal, with missing values.
    "C": (("123321412...", "1233224125.3", ".3332342251.", "12332441251."), 0.743),
}


def counts_of(rows: tuple[str, ...]) -> np.ndarray:
    values = sorted(set("".join(rows)) - {"."})
    return np.array([[unit.count(value) for value in values] for unit in zip(*rows, strict=True)], dtype=float)


def labelled(values: dict[str, str], tag: str = "x") -> list[Label]:
    """`{"ann": "10.1"}`: whether the tag applies, a dot for not labelled."""
    return [
        Label(unit, author, frozenset({tag} if value == "1" else set()))
        for author, row in values.items()
        for unit, value in enumerate(row)
        if value != "."
    ]


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_alpha_of_krippendorffs_examples(name: str) -> None:
    rows, alpha = EXAMPLES[name]
    assert round(float(nominal_alpha(counts_of(rows))), 3) == alpha, KRIPPENDORFF


def test_kappa_of_cohens_example() -> None:
    """Cohen 1960, A Coefficient of Agreement for Nominal Scales: 200 cases, three categories, kappa .492."""
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    cells = [(one, other) for one in range(3) for other in range(3) for _ in range(table[one][other])]
    kappa = cohen_kappa([one for one, _ in cells], [other for _, other in cells])
    assert kappa is not None
    assert round(kappa, 3) == 0.492


@given(st.lists(st.lists(st.sampled_from("abc."), min_size=3, max_size=3), min_size=2, max_size=12))
def test_alpha_equals_nltks(rows: list[list[str]]) -> None:
    data = [(str(n), str(unit), value) for unit, row in enumerate(rows) for n, value in enumerate(row) if value != "."]
    paired = [value for row in rows if 3 - row.count(".") > 1 for value in row if value != "."]
    alpha = float(nominal_alpha(np.array([[row.count(value) for value in "abc"] for row in rows], dtype=float)))
    if len(set(paired)) < 2:
        assert math.isnan(alpha)
    else:
        assert alpha == pytest.approx(AnnotationTask(data).alpha())


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("ab")), min_size=1, max_size=20))
def test_kappa_equals_nltks(pairs: list[tuple[str, str]]) -> None:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    kappa = cohen_kappa(one, other)
    if len({*one, *other}) == 1:
        assert kappa is None
    else:
        data = [(who, str(n), value) for who, row in (("1", one), ("2", other)) for n, value in enumerate(row)]
        assert kappa == pytest.approx(AnnotationTask(data).kappa())


def test_raw_agreement_counts_pairs() -> None:
    """Three pairs of which one agrees, and one pair that agrees."""
    assert raw_agreement(np.array([[2.0, 1.0], [0.0, 2.0], [1.0, 0.0]])) == pytest.approx(2 / 4)


def test_too_few_overlapping_labels_give_no_number() -> None:
    labels = labelled({"ann": "101010101", "bob": "101010100"})
    (tag,), (pair,) = tag_agreements(labels, ["x"]), pair_agreements(labels, ["x"])
    for each in (tag, pair):
        assert each.reason == "too few overlapping labels (9 of at least 10)"
        assert (each.units, each.raw, each.prevalence) == (9, None, None)
    assert (tag.alpha, pair.kappa) == (None, None)


def test_units_of_one_person_do_not_count() -> None:
    (tag,) = tag_agreements(labelled({"ann": "1" * 30, "bob": "." * 30}), ["x"])
    assert (tag.units, tag.labels) == (0, 0)
    assert tag.reason.startswith("too few")


def test_agreement_without_variation_is_said_and_is_not_one() -> None:
    labels = labelled({"ann": "0" * 12, "bob": "0" * 12})
    (tag,), (pair,) = tag_agreements(labels, ["x"]), pair_agreements(labels, ["x"])
    assert (tag.raw, tag.alpha, tag.low, pair.kappa) == (1.0, None, None, None)
    assert tag.reason == pair.reason == "no variation: every label lacks the tag"


def test_numbers_of_a_tag_and_of_pairs() -> None:
    rows = {"ann": "1111100000", "bob": "1111000000", "cem": "11111....."}
    (tag,) = tag_agreements(labelled(rows), ["x"])
    pairs = {(each.first, each.second): each for each in pair_agreements(labelled(rows), ["x"])}
    assert (tag.units, tag.labels) == (10, 25)
    assert tag.prevalence == pytest.approx(14 / 25)
    assert tag.raw == pytest.approx((4 * 3 + 1 + 5) / 20)
    assert tag.low is not None
    assert tag.alpha is not None
    assert tag.high is not None
    assert tag.low < tag.alpha < tag.high
    assert pairs["ann", "bob"].kappa == pytest.approx(0.8)
    assert pairs["ann", "cem"].reason == "too few overlapping labels (5 of at least 10)"


def test_the_interval_covers_what_it_should() -> None:
    """Of 200 samples of 40 units from a known source about 95 % of the intervals hold its alpha."""
    source = random.Random(7)

    def sample(units: int) -> np.ndarray:
        found = np.zeros((units, 2))
        for unit in range(units):
            truth = source.random() < 0.4
            for _ in range(3):
                found[unit, int(truth if source.random() < 0.85 else not truth)] += 1
        return found

    known = float(nominal_alpha(sample(20_000)))
    intervals = [alpha_interval(sample(40), resamples=400) for _ in range(200)]
    held = sum(low is not None and high is not None and low <= known <= high for low, high in intervals)
    assert 0.88 <= held / 200 <= 1.0


def test_rare_tags_have_no_interval() -> None:
    """Of the draws about 0.91 ** 12, a third, miss the one unit that varies."""
    counts = np.array([[1.0, 1.0]] + [[0.0, 2.0]] * 11)
    assert float(nominal_alpha(counts)) == pytest.approx(0.0)
    assert alpha_interval(counts) == (None, None)


def test_units_without_disagreement_have_no_interval() -> None:
    """Every draw of them has alpha 1, which says nothing of other units."""
    counts = np.array([[2.0, 0.0]] * 6 + [[0.0, 2.0]] * 6)
    assert float(nominal_alpha(counts)) == 1.0
    assert alpha_interval(counts) == (None, None)


def test_the_interval_is_that_of_drawing_units_one_by_one() -> None:
    counts = np.array([[3.0, 0.0]] * 9 + [[2.0, 1.0]] * 5 + [[0.0, 3.0]] * 12 + [[0.0, 2.0]] * 4 + [[1.0, 1.0]] * 3)
    drawn = np.random.default_rng(1).integers(0, len(counts), size=(10_000, len(counts)))
    alphas = [float(nominal_alpha(counts[units])) for units in drawn]
    assert alpha_interval(counts) == pytest.approx(np.percentile(alphas, [2.5, 97.5]), abs=0.02)
