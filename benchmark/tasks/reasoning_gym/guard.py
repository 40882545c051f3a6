"""Which answers may reach a scorer that executes them.

Some of reasoning-gym's scorers pass the answer to Python's `eval` or to sympy's `parse_expr`, which is the same: it
would run in the grader. So they get plain literals and arithmetic, and nothing else.
"""

import ast
import re

EVALUATED = frozenset({"binary_matrix", "n_queens", "spiral_matrix", "string_insertion"})
"""Data sets whose scorer calls `eval` on an answer that is not exactly right."""
PARSED = frozenset(
    {"countdown", "intermediate_integration", "polynomial_multiplication", "puzzle24", "simple_integration"}
)
"""Data sets whose scorer calls sympy's `parse_expr`."""
WORD = re.compile(r"[^\W\d]\w*")
FUNCTIONS = "sin cos tan sec csc cot asin acos atan sinh cosh tanh asinh acosh atanh exp log ln sqrt Abs abs pi"
ARITHMETIC = re.compile(r"[\w\s.+\-*/^()=,]*")
ATTRIBUTE = re.compile(r"\.\s*[^\W\d]")
LONGEST = 2000


def may_be_scored(dataset: str, answer: str) -> bool:
    """Whether the data set's scorer cannot be made to run anything by this answer."""
    if dataset in EVALUATED:
        # Without a parenthesis nothing can be called; with one, only a literal is left.
        return "(" not in answer or _is_literal(answer)
    if dataset in PARSED:
        return _is_arithmetic(answer)
    return True


def _is_literal(answer: str) -> bool:
    try:
        ast.literal_eval(answer.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


def _is_arithmetic(answer: str) -> bool:
    known = all(len(word) == 1 or word in FUNCTIONS.split() for word in WORD.findall(answer))
    return len(answer) <= LONGEST and known and bool(ARITHMETIC.fullmatch(answer)) and not ATTRIBUTE.search(answer)
