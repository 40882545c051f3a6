"""Route labels of the paper's table 8."""

import pytest

from traces.methods import Method, Route
from traces.methods.routes import run_route

SFT, RFT, DPO, GRPO, PPO = Method.SFT, Method.RFT, Method.DPO, Method.GRPO, Method.PPO


@pytest.mark.parametrize(
    ("submissions", "route"),
    [
        ([[GRPO]], Route.GRPO),
        ([[Method.COPY], [GRPO], [GRPO, Method.MERGING]], Route.GRPO),
        ([[PPO]], Route.PPO),
        ([[SFT], [SFT]], Route.SFT_ONLY),
        ([[SFT], [RFT], [SFT, Method.MERGING]], Route.SFT_ONLY),
        ([[SFT], [GRPO]], Route.SFT_RL),
        ([[SFT, GRPO]], Route.SFT_RL),
        ([[SFT], [SFT, DPO]], Route.SFT_RL),
        ([[RFT], [PPO]], Route.SFT_RL),
        ([[Method.COPY], [Method.COPY]], Route.COPY),
        ([[], [Method.COPY]], Route.COPY),
        ([], Route.MISSING),
        ([[], [Method.NONE]], Route.MISSING),
        ([[DPO]], Route.OTHER),
        ([[Method.OTHER_RL]], Route.OTHER),
        ([[GRPO], [PPO]], Route.OTHER),
        ([[Method.MERGING]], Route.OTHER),
        ([[Method.DISTILLATION]], Route.OTHER),
    ],
)
def test_route(submissions: list[list[Method]], route: Route) -> None:
    label = run_route(submissions)
    assert label.route is route
    assert label.why


def test_training_that_could_not_be_told_is_no_placeholder() -> None:
    assert run_route([[]], trains_unknown=True).route is Route.OTHER


def test_words_are_those_of_table_8() -> None:
    assert {"GRPO", "PPO", "SFT-only", "SFT+RL", "Copy", "Placeholder/Missing"} == {*Route} - {Route.OTHER}
