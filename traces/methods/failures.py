"""Suggestions of the five failure types of the paper's table 10, from facts of a run; a person confirms or refuses."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from traces.methods.words import PREFERENCE, TRAINED, Confidence, Method

COLLAPSE_SHARE = 0.5
"""A last score at or below this share of an earlier best counts as a collapse."""
MANY = 3
"""So many scored attempts without improvement point to reward or data, not to chance."""

ONLINE = frozenset({Method.GRPO, Method.PPO, Method.OTHER_RL, Method.RFT})


class FailureType(StrEnum):
    """Table 10, as printed."""

    ROLLOUT = "Rollout construction failure"
    REWARD_DATA = "Reward/data design failure"
    COLLAPSE = "Training collapse / instability"
    EARLY_CODING = "Early coding failure"
    STATIC_SHORTCUT = "Static shortcut without transfer"


@dataclass(frozen=True)
class RunFacts:
    """What is known of a finished run. Sequences have one entry per submission, in order.

    `scores` are in 0–100 or `None`: not scored; `error_codes` are `None` where there was no error. `is_interactive`
    says whether the task needs rollouts (L3). `time_used_ratio` is in 0–1. `improved_static_tasks` names tasks without
    rollouts on which the same agent stack improved over the baseline.
    """

    scores: tuple[float | None, ...] = ()
    error_codes: tuple[str | None, ...] = ()
    methods: tuple[tuple[Method, ...], ...] = ()
    baseline: float | None = None
    is_interactive: bool = False
    code_files: int = 0
    events: int = 0
    time_used_ratio: float | None = None
    improved_static_tasks: tuple[str, ...] = ()

    @property
    def scored(self) -> list[float]:
        return [score for score in self.scores if score is not None and math.isfinite(score)]

    @property
    def used(self) -> frozenset[Method]:
        return frozenset(method for methods in self.methods for method in methods)

    @property
    def improved(self) -> bool | None:
        """Whether any score is above the baseline; `None` when either is unknown."""
        return max(self.scored) > self.baseline if self.scored and self.baseline is not None else None


@dataclass(frozen=True)
class FailureSuggestion:
    """A failure type that a rule proposes. It is a suggestion for ever: only a person's annotation confirms."""

    type: FailureType
    evidence: tuple[str, ...]
    confidence: Confidence


def failure_suggestions(facts: RunFacts) -> tuple[FailureSuggestion, ...]:
    """What table 10's symptoms match, the surer first. Several may apply; none need."""
    rules = (_early_coding, _collapse, _rollout, _static_shortcut, _reward_data)
    found = [suggestion for rule in rules for suggestion in rule(facts)]
    order = list(Confidence)
    return tuple(sorted(found, key=lambda each: order.index(each.confidence)))


def _early_coding(facts: RunFacts) -> Iterator[FailureSuggestion]:
    """Table 10: “The run ends before substantive training code or a valid submission”."""
    if facts.scored:
        return
    trained = facts.used & TRAINED
    evidence = [_count(facts)]
    evidence.append("no training code was found" if not trained else f"training code: {', '.join(sorted(trained))}")
    evidence.append(f"{facts.code_files} code files, {facts.events} events")
    if facts.time_used_ratio is not None:
        evidence.append(f"{facts.time_used_ratio:.0%} of the time was used")
    if facts.is_interactive and trained:
        confidence = Confidence.POSSIBLE
    else:
        confidence = Confidence.PROBABLE if trained or facts.scores else Confidence.CERTAIN
    yield FailureSuggestion(FailureType.EARLY_CODING, tuple(evidence), confidence)


def _rollout(facts: RunFacts) -> Iterator[FailureSuggestion]:
    """Table 10: “Training code exists, but the environment loop … never yields usable trajectories”."""
    trained = facts.used & TRAINED
    if not facts.is_interactive or not trained or facts.improved:
        return
    if facts.scored and max(facts.scored) > 0 and not facts.used & ONLINE:
        return
    evidence = [f"an interactive task, with training code: {', '.join(sorted(trained))}", _count(facts), _best(facts)]
    confidence = Confidence.PROBABLE if not facts.scored or max(facts.scored) == 0 else Confidence.POSSIBLE
    yield FailureSuggestion(FailureType.ROLLOUT, tuple(evidence), confidence)


def _collapse(facts: RunFacts) -> Iterator[FailureSuggestion]:
    """Table 10: “Early submissions exist, later ones regress or fail in loading, start-up or evaluation”."""
    scored = facts.scored
    if not scored:
        return
    evidence = []
    best_at = scored.index(max(scored))
    last = scored[-1]
    if best_at < len(scored) - 1 and scored[best_at] > 0 and last <= COLLAPSE_SHARE * scored[best_at]:
        evidence.append(f"the last score is {last:g}, after {scored[best_at]:g}")
    first_scored = next(place for place, score in enumerate(facts.scores) if score in scored)
    later = [code for code in facts.error_codes[first_scored + 1 :] if code is not None]
    if later and facts.scores[-1] is None:
        evidence.append(f"after a scored submission, {len(later)} failed: {', '.join(sorted(set(later)))}")
    if evidence:
        confidence = Confidence.PROBABLE if facts.used & TRAINED else Confidence.POSSIBLE
        yield FailureSuggestion(FailureType.COLLAPSE, tuple(evidence), confidence)


def _reward_data(facts: RunFacts) -> Iterator[FailureSuggestion]:
    """Table 10: collection and training are non-trivial, but data or reward are too sparse or misaligned to help."""
    shaped = facts.used & (ONLINE | PREFERENCE)
    if facts.improved is not False or not facts.used & TRAINED:
        return
    if len(facts.scored) < MANY and not shaped:
        return
    evidence = [f"methods: {', '.join(sorted(facts.used & TRAINED))}", _count(facts), _best(facts)]
    confidence = Confidence.PROBABLE if shaped and len(facts.scored) >= MANY else Confidence.POSSIBLE
    yield FailureSuggestion(FailureType.REWARD_DATA, tuple(evidence), confidence)


def _static_shortcut(facts: RunFacts) -> Iterator[FailureSuggestion]:
    """Table 10: “A workable static route, and no carry-over once interactive rollout is mandatory”."""
    if not facts.is_interactive or facts.improved is not False or facts.used & ONLINE or not facts.used & TRAINED:
        return
    evidence = [
        f"an interactive task, trained without rollouts: {', '.join(sorted(facts.used & TRAINED))}",
        _best(facts),
    ]
    if facts.improved_static_tasks:
        evidence.append(f"the same agent stack improved on {', '.join(facts.improved_static_tasks)}")
    confidence = Confidence.PROBABLE if facts.improved_static_tasks else Confidence.POSSIBLE
    yield FailureSuggestion(FailureType.STATIC_SHORTCUT, tuple(evidence), confidence)


def _count(facts: RunFacts) -> str:
    return f"{len(facts.scores)} submissions, {len(facts.scored)} scored"


def _best(facts: RunFacts) -> str:
    if not facts.scored:
        return "no score"
    baseline = f"baseline {facts.baseline:g}" if facts.baseline is not None else "baseline not known"
    return f"best score {max(facts.scored):g}, {baseline}"
