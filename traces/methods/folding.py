"""Arithmetic on known constants, small enough never to cost time or memory."""

import ast
import operator
import posixpath
from collections.abc import Callable
from typing import Any

from traces.methods.values import UNKNOWN, Const, Obj, Value, const, listed

MAX_TEXT = 4_000
MAX_NUMBER = 1e15

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: lambda a, b: a is b if a is None or b is None else a == b,
    ast.IsNot: lambda a, b: a is not b if a is None or b is None else a != b,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def truth(value: Value) -> bool | None:
    """Whether `value` counts as true; `None` when that is not known."""
    known = value.constant()
    if known is not None:
        return bool(known.value)
    ref = value.refs[0] if len(value.refs) == 1 else None
    if isinstance(ref, Obj) and ref.kind in ("list", "dict") and ref.exact:
        return bool(ref.items or ref.table)
    return None


def folded_compare(op: ast.cmpop, left: Value, right: Value) -> bool | None:
    one, other = left.constant(), right.constant()
    if isinstance(op, ast.In | ast.NotIn):
        found = _contains(right, one)
        return found if found is None or isinstance(op, ast.In) else not found
    if one is None or other is None:
        return None
    try:
        return bool(_COMPARE[type(op)](one.value, other.value))
    except (TypeError, KeyError, ValueError):
        return None


def _contains(holder: Value, item: Const | None) -> bool | None:
    if item is None:
        return None
    text = holder.constant()
    if text is not None and isinstance(text.value, str) and isinstance(item.value, str):
        return item.value in text.value
    for ref in holder.refs if len(holder.refs) == 1 else ():
        if isinstance(ref, Obj) and ref.kind == "dict" and ref.exact:
            return item.value in ref.table
        if isinstance(ref, Obj) and ref.kind == "list" and ref.exact:
            known = [each.constant() for each in ref.items]
            if any(each is not None and each.value == item.value for each in known):
                return True
            return None if None in known else False
    return None


def folded_binary(op: ast.operator, left: Value, right: Value) -> Value:
    """The constant result, or `UNKNOWN`. Text with unknown parts stays text; `/` joins paths."""
    one, other = left.text(), right.text()
    if isinstance(op, ast.Div) and one is not None and other is not None:
        return joined_path(left, right)
    if isinstance(op, ast.Add) and (one is not None or other is not None):
        exact = left.constant() is not None and right.constant() is not None
        return const(((one or "*") + (other or "*"))[:MAX_TEXT], exact=exact)
    if isinstance(op, ast.Mod) and one is not None:
        return const(one[:MAX_TEXT], exact=False)
    a, b = left.constant(), right.constant()
    if a is None or b is None or not all(isinstance(each.value, int | float) for each in (a, b)):
        return UNKNOWN
    if abs(a.value) > MAX_NUMBER or abs(b.value) > MAX_NUMBER:
        return UNKNOWN
    try:
        return const(_ARITHMETIC[type(op)](a.value, b.value))
    except (ArithmeticError, KeyError, TypeError, ValueError):
        return UNKNOWN


def joined_path(*parts: Value) -> Value:
    """`os.path.join` and `Path(…, …)`; an unknown part becomes `*`."""
    texts = [part.text() for part in parts]
    if all(text is None for text in texts):
        return UNKNOWN
    exact = all(part.constant() is not None for part in parts)
    return const(posixpath.join(*(text or "*" for text in texts))[:MAX_TEXT], exact=exact)


_TEXT_METHODS = frozenset(
    ("lower", "upper", "strip", "lstrip", "rstrip", "startswith", "endswith", "replace", "split", "title")
)


def folded_method(value: Value, name: str, args: list[Value]) -> Value:
    """A method of known text."""
    known = value.constant()
    given = [each.constant() for each in args]
    if name == "format" and value.text() is not None:
        return const(value.text(), exact=False)
    if known is None or not isinstance(known.value, str) or name not in _TEXT_METHODS or None in given:
        return UNKNOWN
    try:
        result = getattr(known.value, name)(*(each.value for each in given if each is not None))
    except (TypeError, ValueError, AttributeError):
        return UNKNOWN
    if isinstance(result, list):
        return listed(const(each) for each in result[:256])
    return const(result if not isinstance(result, str) else result[:MAX_TEXT])
