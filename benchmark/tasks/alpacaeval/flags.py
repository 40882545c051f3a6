"""Signs that outputs were made for the judge and not for the person who asked.

A flag never changes a score. W_* is odd, F_* looks like gaming: a single text that wins whatever was asked (Zheng et
al. 2024, "Cheating Automatic LLM Benchmarks", reach 86.5 % with one), or outputs that address the judge.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.tasks.contract import Flag

REPEATED_TIMES, REPEATED_SHARE = 3, 0.1
"""An output is repeated when this many instructions got it; from this share of repeated outputs on there is a flag."""
COMPARED_CHARACTERS = 200
"""What follows does not matter: a counter at the end does not make a constant output another one."""
WINNING = 0.25
"""Repeated outputs that earn more than this do not merely fail; those of a broken model earn next to nothing."""
ADDRESSED_SHARE = 0.02
PATTERNS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "delimiter": r"--- ?(begin|end) (instruction|response)|model_identifier|best model identifier",
        "chat_markup": r"<\|(im_start|im_end|start_header_id|eot_id|system|endoftext)\|>|\[/?INST\]",
        "override": r"\b(ignore|disregard|forget)\b[^.\n]{0,30}\b(previous|above|prior|earlier|other)\b[^.\n]{0,20}"
        r"\b(instructions?|prompts?|responses?|outputs?|rules)\b",
        "verdict": r"\b(choose|select|prefer|pick|vote for|rank)\b[^.\n]{0,30}\b(response|output|answer|model)"
        r" [\"'`(]?(a|b|m|1|2)\b",
        "self_praise": r"\bthis (response|output|answer)\b[^.\n]{0,20}\b(is|must be|should be)\b[^.\n]{0,20}"
        r"\b(best|better|preferred|winner|chosen|superior)\b",
    }.items()
}


@dataclass(frozen=True)
class Judged:
    """One output and what it earned."""

    output: str
    preference: float


def addresses_judge(output: str) -> list[str]:
    """Which patterns of speaking to a judge an output matches."""
    return [name for name, pattern in PATTERNS.items() if pattern.search(output)]


def flags(judged: Sequence[Judged]) -> list[Flag]:
    """What people must see beside the score of these outputs."""
    return [flag for flag in (_repeated(judged), _addressing(judged)) if flag is not None]


def repeated_share(outputs: Sequence[str]) -> float:
    """Share of outputs that were given to several instructions, whatever their spacing and case."""
    return sum(_is_repeated(outputs)) / len(outputs)


def _is_repeated(outputs: Sequence[str]) -> list[bool]:
    plain = [" ".join(output.lower().split())[:COMPARED_CHARACTERS] for output in outputs]
    counts = Counter(plain)
    return [counts[text] >= REPEATED_TIMES for text in plain]


def _repeated(judged: Sequence[Judged]) -> Flag | None:
    marks = _is_repeated([row.output for row in judged])
    repeated = [row for row, marked in zip(judged, marks, strict=True) if marked]
    share = len(repeated) / len(judged)
    if share < REPEATED_SHARE:
        return None
    earned = sum(row.preference for row in repeated) / len(repeated)
    detail = {"share": round(share, 4), "mean_preference": round(earned, 4), "example": repeated[0].output[:200]}
    told = f"{share:.1%} of the outputs are the same for several instructions"
    if earned > WINNING:
        return Flag("F_CONSTANT_OUTPUT", f"{told} and still win", detail)
    return Flag("W_CONSTANT_OUTPUT", told, detail)


def _addressing(judged: Sequence[Judged]) -> Flag | None:
    found = [(row, names) for row in judged if (names := addresses_judge(row.output))]
    if not found:
        return None
    share = len(found) / len(judged)
    counts = Counter(name for _, names in found for name in names)
    detail = {"outputs": len(found), "patterns": dict(counts), "example": found[0][0].output[:200]}
    code = "F_JUDGE_ADDRESSED" if share >= ADDRESSED_SHARE else "W_JUDGE_ADDRESSED"
    return Flag(code, f"{len(found)} of {len(judged)} outputs speak to the judge or imitate its prompt", detail)
