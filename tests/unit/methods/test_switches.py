"""Method switches, adoption and workspace statistics (tables 11, 18, 19 and 20)."""

import math
from pathlib import Path

import pytest
import yaml

from traces.methods import Method
from traces.methods.switches import (
    Adoption,
    Submitted,
    best_submission,
    joined_adoption,
    method_adoption,
    method_switches,
    workspace_statistics,
)

SFT, RFT, GRPO = Method.SFT, Method.RFT, Method.GRPO

HUMANEVAL = (
    # Table 19: submission, method, score.
    Submitted(3, (SFT,), 2.44),
    Submitted(5, (SFT,), 43.90),
    Submitted(7, (SFT, GRPO), 79.27),
    Submitted(11, (SFT, GRPO, RFT), 84.15),
)
ALFWORLD = tuple(
    # Table 20.
    Submitted(number, (SFT,), score)
    for number, score in ((1, 14.93), (2, 16.42), (4, 19.40), (5, 45.52), (7, 95.52))
)


def test_the_walkthrough_of_table_19_switches_twice_and_each_time_improves() -> None:
    switches = method_switches(HUMANEVAL)
    assert [(each.number, each.before, each.after, each.is_success) for each in switches] == [
        (7, SFT, GRPO, True),
        (11, GRPO, RFT, True),
    ]
    assert [each.best_before for each in switches] == [43.90, 79.27]


def test_the_walkthrough_of_table_20_never_switches() -> None:
    assert method_switches(ALFWORLD) == ()


@pytest.mark.parametrize(("name", "fixture"), [("humaneval", HUMANEVAL), ("alfworld", ALFWORLD)])
def test_the_fixtures_are_the_papers(name: str, fixture: tuple[Submitted, ...], shared_data: Path) -> None:
    published = shared_data.parent / "paper" / "published_results.yaml"
    if not published.is_file():
        pytest.skip(f"no published results at {published}")
    rows = yaml.safe_load(published.read_text())["trace_walkthroughs"][name]
    assert [(each.number, each.primary.value, each.score) for each in fixture] == [
        (row["submission"], row["method"], row["score"]) for row in rows
    ]


def test_a_switch_that_does_not_raise_the_best_is_a_failure_and_an_equal_score_does_not() -> None:
    run = [Submitted(1, (SFT,), 50.0), Submitted(2, (GRPO,), 50.0), Submitted(3, (SFT,), 10.0)]
    assert [each.is_success for each in method_switches(run)] == [False, False]


def test_an_unscored_switch_is_neither_and_no_zero() -> None:
    run = [Submitted(1, (SFT,), None), Submitted(2, (GRPO,), None), Submitted(3, (SFT,), 0.0)]
    switches = method_switches(run)
    assert [(each.score, each.is_success) for each in switches] == [(None, None), (0.0, True)]
    assert switches[1].best_before is None
    assert method_switches([Submitted(1, (SFT,), math.nan), Submitted(2, (GRPO,), math.nan)])[0].is_success is None


def test_an_unknown_method_is_no_switch_and_ends_no_stretch() -> None:
    run = [Submitted(1, (SFT,), 1.0), Submitted(2, (), 2.0), Submitted(3, (SFT,), 3.0), Submitted(4, (GRPO,), 2.5)]
    (switch,) = method_switches(run)
    assert (switch.number, switch.best_before, switch.is_success) == (4, 3.0, False)


def test_adoption_counts_each_method_once_per_run() -> None:
    runs = [
        HUMANEVAL,
        ALFWORLD,
        [Submitted(1, (SFT,), 5.0), Submitted(2, (Method.KTO,), 4.0), Submitted(3, (Method.KTO,), None)],
        [Submitted(1, (Method.COPY,), 7.0), Submitted(2, (GRPO,), None)],
        [],
    ]
    rows = method_adoption(runs)
    assert rows == {
        SFT: Adoption(3, 3),
        RFT: Adoption(1, 1),
        Method.KTO: Adoption(1, 0),
        GRPO: Adoption(2, 1),
    }
    assert rows[GRPO].rate == 0.5
    assert joined_adoption(rows, [Method.KTO, Method.ORPO]) == Adoption(1, 0)
    assert joined_adoption(rows, [Method.ORPO]).rate is None


def test_rates_of_table_18() -> None:
    assert round(Adoption(19, 18).rate or 0, 2) == 0.95
    assert round(Adoption(11, 4).rate or 0, 2) == 0.36
    assert Adoption(3, 0).rate == 0.0


def test_the_best_is_the_first_of_equals_and_never_an_unscored_one() -> None:
    run = [Submitted(1, (), None), Submitted(2, (), 3.0), Submitted(3, (), 3.0), Submitted(4, (), math.inf)]
    assert best_submission(run) == run[1]
    assert best_submission(run[:1]) is None
    assert best_submission([Submitted(1, (), -2.0), Submitted(2, (), -1.0)]) == Submitted(2, (), -1.0)


def test_statistics_of_table_11() -> None:
    run = [Submitted(1, (SFT,), 0.0), Submitted(2, (SFT,), None), Submitted(3, (SFT,), 9.0), Submitted(4, (SFT,), 9.0)]
    paths = [
        "code/train.py", "./code/train.py", "code/run.sh", "code/nb.ipynb", "README.md",
        "output/v1/model-00001-of-00002.safetensors", "output/v1/model-00002-of-00002.safetensors",
        "output/v1/checkpoint-5/adapter_model.safetensors", "output/v1/checkpoint-5/optimizer.pt",
        "output/v2/optimizer.pt", "output/v3/config.json",
    ]  # fmt: skip
    found = workspace_statistics(run, paths)
    assert (found.submissions, found.scored, found.code_files, found.model_versions) == (4, 3, 3, 2)
    assert found.zero_rate == pytest.approx(1 / 3)
    assert found.best_at == 3


def test_nothing_scored_has_no_rate_and_no_best() -> None:
    found = workspace_statistics([Submitted(1, (SFT,), None)], [])
    assert (found.zero_rate, found.best_at) == (None, None)
