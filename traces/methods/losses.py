"""The method of a hand-written loss, from the tags that reach `backward()`."""

from dataclasses import dataclass

from traces.methods.words import Method


@dataclass(frozen=True)
class LossVerdict:
    """`method` None: a loss of something that is no policy (`why` says what), or one that could not be told."""

    method: Method | None
    why: str
    is_sure: bool = True
    trains_unknown: bool = False


def loss_verdict(tags: frozenset[str]) -> LossVerdict:
    """Judge one loss. `tags` are those of the value and of the conditions under which it is used."""
    for tag in sorted(tags):
        if tag.startswith("loss:"):
            return LossVerdict(Method(tag[5:]), f"backward() on a library's {tag[5:]} loss")
    likelihood = bool(tags & {"logprob", "ce", "ratio"})
    if "pref" in tags:
        return _preference(tags)
    if "odds" in tags and likelihood:
        return LossVerdict(Method.ORPO, "log odds of the chosen over the rejected answer")
    if "judged" in tags and likelihood and tags & {"weighted", "advantage"}:
        return _policy_gradient(tags)
    if "soft" in tags or ("kl" in tags and "frozen" in tags and not {"ref", "ce"} <= tags):
        return LossVerdict(Method.DISTILLATION, "the loss compares with a frozen model's probabilities or logits")
    if "sigmoid" in tags and "diff" in tags:
        return LossVerdict(
            Method.KTO, "1 − sigmoid of the log ratio to a reference, one answer at a time", is_sure=False
        )
    if "classifier" in tags:
        return LossVerdict(None, "trains a classifier or reward model, not the submitted policy")
    if likelihood:
        return _likelihood(tags)
    if tags & {"value", "vloss"}:
        return LossVerdict(None, "trains a value head or reward model, not a policy")
    return LossVerdict(None, "backward() on a loss whose kind could not be told", trains_unknown=True)


def _preference(tags: frozenset[str]) -> LossVerdict:
    if "odds" in tags:
        return LossVerdict(Method.ORPO, "log sigmoid of the log odds ratio of chosen to rejected")
    return LossVerdict(Method.DPO, "a log-sigmoid or squared loss on differences of sequence log-probabilities")


def _policy_gradient(tags: frozenset[str]) -> LossVerdict:
    clipped = {"ratio", "clipped"} <= tags
    if tags & {"value", "vloss"}:
        if clipped:
            return LossVerdict(Method.PPO, "a clipped probability ratio × advantages, with a value function")
        return LossVerdict(Method.OTHER_RL, "log-probabilities × advantages from a value function, without clipping")
    if "loo" in tags:
        return LossVerdict(Method.OTHER_RL, "log-probabilities × leave-one-out advantages (RLOO)")
    if {"grouped", "centred"} <= tags:
        how = "normalised by their group's mean and spread" if "std" in tags else "less their group's mean"
        return LossVerdict(Method.GRPO, f"log-probabilities × rewards {how}", is_sure="std" in tags)
    if clipped:
        return LossVerdict(
            Method.PPO, "a clipped probability ratio × advantages; no value function seen", is_sure=False
        )
    return LossVerdict(Method.OTHER_RL, "log-probabilities × rewards (policy gradient)")


def _likelihood(tags: frozenset[str]) -> LossVerdict:
    if "filtered" in tags:
        return LossVerdict(Method.RFT, "cross-entropy on the model's own completions that passed a check")
    return LossVerdict(Method.SFT, "cross-entropy on labels")
