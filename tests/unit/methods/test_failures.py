"""Suggestions of table 10's failure types."""

import dataclasses

from traces.methods import Confidence, Method
from traces.methods.failures import FailureSuggestion, FailureType, RunFacts, failure_suggestions

SFT, GRPO = (Method.SFT,), (Method.GRPO,)


def types(facts: RunFacts) -> set[FailureType]:
    return {each.type for each in failure_suggestions(facts)}


def only(facts: RunFacts, wanted: FailureType) -> FailureSuggestion:
    return next(each for each in failure_suggestions(facts) if each.type is wanted)


def test_a_good_run_gets_no_suggestion() -> None:
    assert failure_suggestions(RunFacts(scores=(80.0, 84.0), methods=(SFT, GRPO), baseline=77.7)) == ()


def test_no_submission_and_no_training_code_is_an_early_coding_failure() -> None:
    found = only(RunFacts(code_files=1, events=40, time_used_ratio=0.1), FailureType.EARLY_CODING)
    assert found.confidence is Confidence.CERTAIN
    assert found.evidence == (
        "0 submissions, 0 scored",
        "no training code was found",
        "1 code files, 40 events",
        "10% of the time was used",
    )


def test_rejected_submissions_without_a_score_are_early_coding_failures_too() -> None:
    facts = RunFacts(scores=(None, None), error_codes=("E_CONFIG_JSON", "E_KEYS"), methods=(SFT, SFT))
    assert types(facts) == {FailureType.EARLY_CODING}


def test_training_code_without_a_usable_rollout() -> None:
    facts = RunFacts(scores=(0.0, 0.0), methods=(GRPO, GRPO), baseline=4.85, is_interactive=True)
    assert only(facts, FailureType.ROLLOUT).confidence is Confidence.PROBABLE
    assert FailureType.ROLLOUT not in types(dataclasses.replace(facts, is_interactive=False))
    assert FailureType.ROLLOUT not in types(dataclasses.replace(facts, scores=(0.0, 50.0)))


def test_a_late_drop_is_a_collapse() -> None:
    facts = RunFacts(scores=(69.0, 70.0, 12.0), methods=(SFT, GRPO, GRPO), baseline=69.0)
    assert only(facts, FailureType.COLLAPSE).evidence == ("the last score is 12, after 70",)
    assert FailureType.COLLAPSE not in types(dataclasses.replace(facts, scores=(12.0, 69.0, 70.0)))


def test_later_failures_after_a_score_are_a_collapse() -> None:
    facts = RunFacts(
        scores=(40.0, None, None), error_codes=(None, "E_LOAD", "E_LOAD"), methods=(SFT, GRPO, GRPO), baseline=30.0
    )
    assert "2 failed: E_LOAD" in only(facts, FailureType.COLLAPSE).evidence[0]


def test_many_shaped_attempts_without_improvement_point_to_reward_or_data() -> None:
    facts = RunFacts(scores=(11.0, 10.5, 11.5), methods=(SFT, GRPO, GRPO), baseline=11.75)
    assert only(facts, FailureType.REWARD_DATA).confidence is Confidence.PROBABLE
    assert types(dataclasses.replace(facts, baseline=None)) == set()
    assert types(dataclasses.replace(facts, scores=(11.0,), methods=(SFT,))) == set()


def test_a_static_route_on_an_interactive_task() -> None:
    facts = RunFacts(scores=(4.0,), methods=(SFT,), baseline=4.85, is_interactive=True)
    assert only(facts, FailureType.STATIC_SHORTCUT).confidence is Confidence.POSSIBLE
    more = only(dataclasses.replace(facts, improved_static_tasks=("gsm8k",)), FailureType.STATIC_SHORTCUT)
    assert more.confidence is Confidence.PROBABLE
    assert "improved on gsm8k" in more.evidence[-1]
    rollouts = dataclasses.replace(facts, methods=((Method.RFT,),))
    assert FailureType.STATIC_SHORTCUT not in types(rollouts)


def test_an_unscored_submission_is_no_zero() -> None:
    assert types(RunFacts(scores=(50.0, None), error_codes=(None, None), methods=(SFT, SFT), baseline=40.0)) == set()


def test_a_suggestion_cannot_confirm_itself() -> None:
    names = {field.name for field in dataclasses.fields(FailureSuggestion)}
    assert names == {"type", "evidence", "confidence"}
