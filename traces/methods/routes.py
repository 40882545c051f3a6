"""The route of a run, from the methods of its submissions (the paper's table 8)."""

from collections.abc import Sequence
from dataclasses import dataclass

from traces.methods.words import PREFERENCE, SUPERVISED, TRAINED, Method, Route

REINFORCING = frozenset({Method.GRPO, Method.PPO, Method.OTHER_RL}) | PREFERENCE
"""What the paper's audit of RL methods (table 14) counts, without RFT, whose training is supervised."""


@dataclass(frozen=True)
class RouteLabel:
    """A suggestion; `why` names what decided it."""

    route: Route
    why: str


def run_route(submissions: Sequence[Sequence[Method]], *, trains_unknown: bool = False) -> RouteLabel:
    """The route of a run whose submissions were made by these methods, in order.

    Table 8 labels by what the training scripts contain. What it leaves open: an RL-style part is a policy gradient or a
    preference loss (DPO, KTO, ORPO), beside a supervised part it makes SFT+RL; RFT is a supervised part; merging
    changes no route. `trains_unknown`: code trains something whose method could not be told.
    """
    used = {method for methods in submissions for method in methods} - {Method.NONE}
    trained = used & TRAINED
    if not trained:
        return _untrained(used, trains_unknown=trains_unknown)
    supervised, reinforced = used & SUPERVISED, used & REINFORCING
    if supervised and reinforced:
        return RouteLabel(Route.SFT_RL, f"{_words(supervised)} and {_words(reinforced)}")
    if supervised:
        if Method.DISTILLATION in used:
            return RouteLabel(Route.OTHER, f"{_words(supervised)} and distillation")
        return RouteLabel(Route.SFT_ONLY, f"{_words(supervised)} and no RL-style method")
    if reinforced == {Method.GRPO}:
        return RouteLabel(Route.GRPO, "GRPO is the only training method")
    if reinforced == {Method.PPO}:
        return RouteLabel(Route.PPO, "PPO is the only training method")
    return RouteLabel(Route.OTHER, f"table 8 has no label for {_words(trained)} alone")


def _untrained(used: set[Method], *, trains_unknown: bool) -> RouteLabel:
    if trains_unknown:
        return RouteLabel(Route.OTHER, "weights are trained by a method that could not be told")
    if Method.COPY in used:
        return RouteLabel(Route.COPY, "the base model was submitted unchanged; no training was found")
    return RouteLabel(Route.MISSING, "no training code was found")


def _words(methods: set[Method] | frozenset[Method]) -> str:
    return ", ".join(sorted(methods))
