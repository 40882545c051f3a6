"""Arithmetic: which tags an operation adds to those of its sides."""

import ast

from traces.methods.tagging import derived, is_weighted
from traces.methods.values import Value


def combined(op: ast.operator, one: frozenset[str], other: frozenset[str], left: Value) -> set[str]:
    """The tags that `left op right` adds to those of its sides, `one` and `other`."""
    made: set[str] = set()
    tags = one | other
    if isinstance(op, ast.Mult | ast.MatMult) and is_weighted(one, other):
        made.add("weighted")
    if isinstance(op, ast.Mult) and is_soft(one, other):
        made.add("soft")
    if isinstance(op, ast.MatMult) and {"weights"} <= one & other:
        made.add("delta")
    if isinstance(op, ast.Add) and "weights" in one & other and "delta" not in tags:
        made.add("averaged")
    if isinstance(op, ast.Sub):
        made |= _difference(one, other, left)
    if isinstance(op, ast.Div) and "sum" in one and "judged" in one:
        made.add("mean")
    if isinstance(op, ast.Pow):
        made |= derived("pow", tags)
    return made


def _difference(one: frozenset[str], other: frozenset[str], left: Value) -> set[str]:
    made: set[str] = set()
    if "logprob" in one and other & {"logprob", "frozen"}:
        made.add("diff")
    if "chosen" in one and "rejected" in other:
        made.add("diff")
    if "judged" in one and "judged" in other and "mean" in other:
        made.add("centred")
    elif "sum" in one and "judged" in one & other:
        made.add("loo")
    elif "judged" in one and other & {"value"}:
        made.add("centred")
    if left.constant() is not None and other & {"prob", "logprob"} and "sigmoid" not in other:
        made.add("complement")
    return made


def is_soft(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether a frozen model's probabilities multiply a likelihood."""
    for teacher, student in ((one, other), (other, one)):
        if teacher & {"judged", "ratio"}:
            continue
        if {"prob", "frozen"} <= teacher and "logprob" in student:
            return True
        # The reverse Kullback-Leibler divergence: the student's own probabilities weigh the difference.
        if "prob" in teacher and {"diff", "frozen"} <= student:
            return True
    return False
