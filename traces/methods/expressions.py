"""Expressions: what each node's value may be and which tags it carries."""

import ast
import builtins
import re
from collections.abc import Callable
from typing import Any

from traces.methods.core import Args, Core
from traces.methods.folding import folded_binary, folded_compare, truth
from traces.methods.operators import combined
from traces.methods.tagging import GROUP_NAME, INPUT_KEY, VERDICTS, named
from traces.methods.values import UNKNOWN, Const, External, Obj, Scope, Value, const, join, listed

MAX_ITEMS = 256


class Expressions(Core):
    """`evaluate` and one method for each kind of expression."""

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        self.budget.spend()
        handler: Callable[[Any, Scope], Value] | None = getattr(self, "_" + type(node).__name__, None)
        return handler(node, scope) if handler else UNKNOWN

    def _Constant(self, node: ast.Constant, scope: Scope) -> Value:
        return const(node.value)

    def _Name(self, node: ast.Name, scope: Scope) -> Value:
        at: Scope | None = scope
        while at is not None:
            if node.id in at.names:
                return at.names[node.id]
            at = at.parent
        star = scope.module().names.get("*")
        if star is not None and not hasattr(builtins, node.id):
            return self.attribute(star, node.id, scope)
        return Value((External(f"builtins.{node.id}"),))

    def _Attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        return self.attribute(self.evaluate(node.value, scope), node.attr, scope)

    def _Subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        holder = self.evaluate(node.value, scope)
        index = self.evaluate(node.slice, scope)
        found = self._item(holder, index)
        tags = index.all_tags()
        if "sampled" in holder.all_tags() and tags & {"judged", "text"}:
            found = found.tagged({"filtered"})
        return found

    def _item(self, holder: Value, index: Value) -> Value:
        key = index.constant()
        tags = holder.all_tags()
        for ref in holder.refs:
            if isinstance(ref, External) and ref.name == "os.environ" and key is not None:
                return self.external_call("os.getenv", Args([index]), ast.Pass(), Scope(""))
            if isinstance(ref, Obj) and key is not None:
                held = _held(ref, key)
                if held is not None:
                    return held
            if isinstance(ref, Obj) and ref.kind in ("model", "trainer"):
                return Value((ref,), holder.tags)
            if isinstance(ref, Obj) and ref.kind == "list" and ref.items:
                return join(*ref.items).tagged(tags)
            if isinstance(ref, Obj) and ref.kind == "dict" and ref.table and key is None:
                return join(*ref.table.values()).tagged(tags)
        if key is not None and isinstance(key.value, str):
            if key.value == "loss" and "out" in tags:
                return Value(tags=tags | {"ce"})
            tags = tags - VERDICTS - {"advantage"} if INPUT_KEY.search(key.value) else tags
            tags |= named(key.value, tags)
            if re.search(r"text|response|completion|content", key.value) and "sampled" in tags:
                tags |= {"text"}
        if key is not None and key.value == 0 and "labelled" in tags:
            tags |= {"ce"}
        return Value(tags=tags)

    def _Slice(self, node: ast.Slice, scope: Scope) -> Value:
        parts = [each for each in (node.lower, node.upper, node.step) if each is not None]
        return Value(tags=join(*(self.evaluate(each, scope) for each in parts)).tags if parts else frozenset())

    def _BinOp(self, node: ast.BinOp, scope: Scope) -> Value:
        return self.binary(node.op, self.evaluate(node.left, scope), self.evaluate(node.right, scope))

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        """Folded where both are constants; else the tags of both and what the operation adds."""
        one, other = left.all_tags(), right.all_tags()
        tags = one | other
        if not tags:
            return folded_binary(op, left, right)
        if isinstance(op, ast.Add) and left.objects("list") and right.objects("list"):
            items = [each for value in (left, right) for held in value.objects("list") for each in held.items]
            return listed(items[:MAX_ITEMS], exact=False).tagged(tags)
        return Value(tags=tags | combined(op, one, other, left))

    def _UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> Value:
        value = self.evaluate(node.operand, scope)
        if isinstance(node.op, ast.Not):
            known = truth(value)
            return const(not known) if known is not None else Value(tags=value.all_tags())
        known_number = value.constant()
        if isinstance(node.op, ast.USub) and known_number is not None and isinstance(known_number.value, int | float):
            return const(-known_number.value)
        return Value(tags=value.all_tags())

    def _BoolOp(self, node: ast.BoolOp, scope: Scope) -> Value:
        is_and = isinstance(node.op, ast.And)
        seen: list[Value] = []
        for each in node.values:
            value = self.evaluate(each, scope)
            known = truth(value)
            if known is (not is_and):
                return value if not seen else join(*seen, value)
            if known is None:
                seen.append(value)
            last = value
        return join(*seen) if seen else last

    def _Compare(self, node: ast.Compare, scope: Scope) -> Value:
        left = self.evaluate(node.left, scope)
        result: bool | None = True
        tags = left.all_tags()
        for op, each in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(each, scope)
            one = folded_compare(op, left, right)
            result = False if one is False or result is False else (None if one is None or result is None else True)
            tags |= right.all_tags()
            left = right
        if "text" in tags and "sampled" in tags:
            tags |= {"judged"}
        return Value((Const(result),) if result is not None else (), tags)

    def _IfExp(self, node: ast.IfExp, scope: Scope) -> Value:
        test = self.evaluate(node.test, scope)
        known = truth(test)
        if known is not None:
            return self.evaluate(node.body if known else node.orelse, scope)
        tags = test.all_tags()
        both = join(self.evaluate(node.body, scope), self.evaluate(node.orelse, scope))
        is_verdict = "sampled" in tags and tags & {"text", "judged"}
        return both.tagged(tags | {"judged"}) if is_verdict else both

    def _JoinedStr(self, node: ast.JoinedStr, scope: Scope) -> Value:
        parts, exact, tags = [], True, frozenset[str]()
        for each in node.values:
            value = self.evaluate(each.value if isinstance(each, ast.FormattedValue) else each, scope)
            known = value.constant()
            text = value.text()
            exact = exact and known is not None
            parts.append(str(known.value) if known is not None else text or "*")
            tags |= value.all_tags()
        return const("".join(parts)[:4000], exact=exact).tagged(tags)

    def _List(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
        items, exact = [], True
        for each in node.elts:
            if isinstance(each, ast.Starred):
                value = self.evaluate(each.value, scope)
                held = [item for ref in value.objects("list") for item in ref.items]
                exact = exact and all(ref.exact for ref in value.objects("list")) and bool(held)
                items += held or [Value(tags=value.all_tags())]
            else:
                items.append(self.evaluate(each, scope))
        return listed(items[:MAX_ITEMS], exact=exact and len(items) <= MAX_ITEMS)

    _Tuple = _List
    _Set = _List

    def _Dict(self, node: ast.Dict, scope: Scope) -> Value:
        made = Obj("dict", exact=True)
        for key, each in zip(node.keys, node.values, strict=True):
            value = self.evaluate(each, scope)
            made.tags |= value.all_tags()
            known = self.evaluate(key, scope).constant() if key is not None else None
            if known is not None:
                made.table[known.value] = value
                continue
            made.exact = False
            for held in value.objects("dict") if key is None else ():
                made.table.update(held.table)
        return Value((made,))

    def _ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> Value:
        made: list[Value] = []
        self._comprehend(node.generators, scope, lambda inner: made.append(self.evaluate(node.elt, inner)))
        return listed([self.guarded(each) for each in made], exact=False)

    _SetComp = _ListComp
    _GeneratorExp = _ListComp

    def _DictComp(self, node: ast.DictComp, scope: Scope) -> Value:
        made = Obj("dict")

        def add(inner: Scope) -> None:
            self.evaluate(node.key, inner)
            value = self.guarded(self.evaluate(node.value, inner))
            made.items.append(value)
            made.tags.update(value.all_tags())

        self._comprehend(node.generators, scope, add)
        return Value((made,))

    def _comprehend(self, generators: list[ast.comprehension], scope: Scope, visit: Callable[[Scope], None]) -> None:
        inner = Scope(scope.path, scope)
        before = len(self.control), len(self.loops)
        for each in generators:
            holder = self.evaluate(each.iter, inner)
            self.assign(each.target, elements(holder), inner)
            self.loops.append(loop_kind(each.target, each.iter))
            tests = [self.evaluate(test, inner) for test in each.ifs]
            if any(truth(test) is False for test in tests):
                del self.control[before[0] :], self.loops[before[1] :]
                return
            self.control.append(frozenset().union(*(test.all_tags() for test in tests)))
        if tests_filter(self.control[before[0] :]):
            inner.names = {name: _filtered(value) for name, value in inner.names.items()}
        visit(inner)
        del self.control[before[0] :], self.loops[before[1] :]

    def _Starred(self, node: ast.Starred, scope: Scope) -> Value:
        return self.evaluate(node.value, scope)

    def _Await(self, node: ast.Await, scope: Scope) -> Value:
        return self.evaluate(node.value, scope)

    def _NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.evaluate(node.value, scope)
        self.assign(node.target, value, scope)
        return value

    def _Yield(self, node: ast.Yield | ast.YieldFrom, scope: Scope) -> Value:
        value = self.guarded(self.evaluate(node.value, scope)) if node.value is not None else UNKNOWN
        if self.returns:
            self.returns[-1].append(listed([value], exact=False))
        return UNKNOWN

    _YieldFrom = _Yield


def _held(ref: Obj, key: Const) -> Value | None:
    if ref.kind == "dict" and key.value in ref.table:
        return ref.table[key.value]
    if (
        ref.kind == "list"
        and isinstance(key.value, int)
        and ref.exact
        and -len(ref.items) <= key.value < len(ref.items)
    ):
        return ref.items[key.value]
    return None


def elements(holder: Value) -> Value:
    """One element of what is iterated."""
    tags = holder.all_tags()
    items = [item for ref in holder.refs if isinstance(ref, Obj) and ref.kind == "list" for item in ref.items]
    return join(*items).tagged(tags & {"filtered", "sampled"}) if items else Value(tags=tags)


def tests_filter(control: list[frozenset[str]]) -> bool:
    return any(tags & {"judged", "text"} for tags in control)


def _filtered(value: Value) -> Value:
    return value.tagged({"filtered"}) if "sampled" in value.all_tags() else value


def loop_kind(target: ast.expr, source: ast.expr) -> str:
    """`samples` for a loop that repeats the same prompt, by its range's or variable's name; else `loop`."""
    if not (isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range"):
        return "loop"
    last = source.args[-1] if source.args else None
    name = last.id if isinstance(last, ast.Name) else last.attr if isinstance(last, ast.Attribute) else ""
    return "samples" if GROUP_NAME.search(name) else "loop"
