"""How tags arise: one table from the last part of a called name to what its result carries."""

import re
from collections.abc import Callable

Tags = frozenset[str]

JUDGING = re.compile(r"(?i)(reward|verif|grade|judge|is_correct|is_right|correctness)")
REWARD_NAME = re.compile(r"(?i)(^|_)(rewards?|rew|rews)(_|$|\d)")
ADVANTAGE_NAME = re.compile(r"(?i)(^|_)(advantages?|advs?)(_|$|\d)")
GROUP_NAME = re.compile(r"(?i)group|num_gen|generations|num_samples|n_samples|rollouts_per|samples_per|^g$|^k$|^n$")
TEACHER_NAME = re.compile(r"(?i)teacher")
REFERENCE_NAME = re.compile(r"(?i)(^|_)ref(_|erence|$)")
VALUE_NAME = re.compile(r"(?i)(value_head|v_head|critic|value_model|value_net)")
INPUT_KEY = re.compile(r"(?i)(_ids?$|^ids$|tokens?$|mask$|labels?$)")
VERDICTS = frozenset({"judged", "mean", "std", "sum", "centred", "grouped", "loo"})
"""Tags of rewards: what is tokenised or used as ids has them no more."""

GENERATE = frozenset({"generate", "generate_sequences", "fast_generate", "chat", "sample_completions"})
DECODE = frozenset({"decode", "batch_decode"})
TOKENISE = re.compile(r"(?i)^(tokeni[sz]e\w*|encode\w*|batch_encode_plus|apply_chat_template|convert_tokens_to_ids)$")
CROSS_ENTROPY = frozenset(
    {"cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss", "LigerCrossEntropyLoss", "fused_cross_entropy"}
)
LOG_PROBABILITY = frozenset({"log_softmax", "log_prob", "log_probs", "logsumexp", "selective_log_softmax"})
SQUARED = frozenset({"mse_loss", "MSELoss", "smooth_l1_loss", "SmoothL1Loss", "HuberLoss", "huber_loss", "square"})
OPTIMISER = re.compile(r"(Adam|SGD|Adafactor|Lion|RMSprop|Adagrad|Muon|Optimizer|Sophia|Prodigy|Shampoo)")
SCHEDULER = re.compile(r"(?i)(sched|LR$|warmup)")


def _squared(tags: Tags) -> Tags:
    made: set[str] = set()
    if "value" in tags:
        made.add("vloss")
    if {"frozen", "logits"} <= tags and not tags & {"value", "judged"}:
        made.add("soft")
    if "diff" in tags and tags & {"chosen", "rejected"}:
        made.add("pref")
    return frozenset(made)


def _log(tags: Tags) -> Tags:
    if "complement" in tags:
        return frozenset({"odds"})
    if "sigmoid" in tags and "logprob" in tags:
        return frozenset({"pref"})
    return frozenset({"logprob"}) if "prob" in tags else frozenset()


def _exp(tags: Tags) -> Tags:
    if "diff" in tags:
        return frozenset({"ratio"})
    return frozenset({"prob"}) if "logprob" in tags else frozenset()


def _when(needed: str, made: str) -> Callable[[Tags], Tags]:
    return lambda tags: frozenset({made}) if needed in tags else frozenset()


_RULES: dict[str, Callable[[Tags], Tags]] = {
    "softmax": lambda _: frozenset({"prob"}),
    "kl_div": lambda _: frozenset({"kl"}),
    "kl_divergence": lambda _: frozenset({"kl"}),
    "KLDivLoss": lambda _: frozenset({"kl"}),
    "logsigmoid": _when("logprob", "pref"),
    "LogSigmoid": _when("logprob", "pref"),
    "softplus": _when("diff", "pref"),
    "sigmoid": _when("logprob", "sigmoid"),
    "log": _log,
    "log1p": lambda tags: frozenset({"odds"}) if tags & {"logprob", "prob"} else frozenset(),
    "log1mexp": _when("logprob", "odds"),
    "exp": _exp,
    "exp_": _exp,
    "clamp": _when("ratio", "clipped"),
    "clip": _when("ratio", "clipped"),
    "mean": _when("judged", "mean"),
    "fmean": _when("judged", "mean"),
    "average": _when("judged", "mean"),
    "std": _when("judged", "std"),
    "var": _when("judged", "std"),
    "stdev": _when("judged", "std"),
    "pstdev": _when("judged", "std"),
    "sum": _when("judged", "sum"),
    "pow": _squared,
    **dict.fromkeys(SQUARED, _squared),
    **dict.fromkeys(CROSS_ENTROPY, lambda _: frozenset({"ce"})),
    **dict.fromkeys(LOG_PROBABILITY, lambda _: frozenset({"logprob"})),
}


def derived(name: str, tags: Tags) -> Tags:
    """The tags that a call of `name` (its last part) adds to those of its arguments."""
    rule = _RULES.get(name)
    return rule(tags) if rule else frozenset()


def named(name: str, tags: Tags) -> Tags:
    """What a variable's or key's name adds: the field's own words for rewards and advantages, chosen and rejected."""
    made: set[str] = set()
    if REWARD_NAME.search(name):
        made.add("judged")
    if ADVANTAGE_NAME.search(name):
        made |= {"judged", "advantage"}
    lower = name.lower()
    if "chosen" in lower:
        made.add("chosen")
    if "reject" in lower:
        made.add("rejected")
    if "group" in lower and "judged" in tags:
        made.add("grouped")
    return frozenset(made)


def tokenised(tags: Tags) -> Tags:
    """Text that became ids keeps its origin, and is a verdict no more."""
    return tags - VERDICTS - {"text", "advantage"}


LIKELIHOOD = frozenset({"logprob", "ce", "ratio"})
_VERDICT = frozenset({"judged", "advantage"})


def is_weighted(one: Tags, other: Tags) -> bool:
    """Whether a verdict multiplies a likelihood."""
    return bool((one & _VERDICT and other & LIKELIHOOD) or (other & _VERDICT and one & LIKELIHOOD))
