"""Assignments: names, attributes, items and unpacking; what a name says is added to the tags."""

import ast

from traces.methods.core import Args, Core
from traces.methods.expressions import elements
from traces.methods.tagging import named
from traces.methods.values import Obj, Scope, Value


class Assignments(Core):
    """`assign` for every kind of target."""

    def _Assign(self, node: ast.Assign, scope: Scope) -> None:
        value = self.evaluate(node.value, scope)
        for target in node.targets:
            self.assign(target, self.guarded(value), scope)

    def _AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value, scope), scope)

    def _AugAssign(self, node: ast.AugAssign, scope: Scope) -> None:
        load = ast.copy_location(_load(node.target), node)
        old, more = self.evaluate(load, scope), self.evaluate(node.value, scope)
        for held in old.objects("list"):
            held.exact = False
            held.items += [item for ref in more.objects("list") for item in ref.items][:64]
            held.tags |= self.guarded(more).all_tags()
            return
        if "grad" in more.all_tags() and isinstance(node.op, ast.Sub | ast.Add):
            self.call_method(Value(tags=frozenset({"optimiser"})), "step", Args(), node, scope)
        if "averaged" in (result := self.binary(node.op, old, more)).tags and isinstance(node.target, ast.Name):
            result = result.tagged({"averaged"})
        self.assign(node.target, result, scope)

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            self.set_name(target.id, value, scope)
        elif isinstance(target, ast.Tuple | ast.List):
            for each, part in zip(target.elts, unpacked(value, len(target.elts)), strict=True):
                self.assign(each.value if isinstance(each, ast.Starred) else each, part, scope)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(self.evaluate(target.value, scope), target, value, scope)
        elif isinstance(target, ast.Subscript):
            self._assign_item(target, value, scope)

    def _assign_attribute(self, holder: Value, target: ast.Attribute, value: Value, scope: Scope) -> None:
        if target.attr == "data" and "weights" in holder.all_tags():
            self.call_method(holder, "copy_", Args([value]), target, scope)
        for ref in holder.refs:
            if isinstance(ref, Obj):
                ref.attrs[target.attr] = value.tagged(named(target.attr, value.tags))

    def _assign_item(self, target: ast.Subscript, value: Value, scope: Scope) -> None:
        holder = self.evaluate(target.value, scope)
        key = self.evaluate(target.slice, scope).constant()
        tags = self.guarded(value).all_tags()
        for ref in holder.refs:
            if isinstance(ref, Obj) and ref.kind in ("list", "dict"):
                ref.tags |= tags
                if ref.kind == "dict" and key is not None:
                    ref.table[key.value] = value
                else:
                    ref.exact = False
                return
        if isinstance(target.value, ast.Name):
            self.set_name(target.value.id, holder.tagged(tags), scope)

    def set_name(self, name: str, value: Value, scope: Scope) -> None:
        plain = all(isinstance(ref, Obj) and ref.kind in ("list", "dict") for ref in value.refs)
        if plain or value.constant() is not None:
            value = value.tagged(named(name, value.all_tags()))
        at = scope
        if name in scope.outer:
            at = scope.module()
            holder: Scope | None = scope.parent
            while holder is not None and holder.parent is not None:
                if name in holder.names:
                    at = holder
                    break
                holder = holder.parent
        at.names[name] = value


def unpacked(value: Value, count: int) -> list[Value]:
    """The parts of a tuple of `count`; what is not known apart has the tags of the whole."""
    for ref in value.refs:
        if isinstance(ref, Obj) and ref.kind == "list" and ref.exact and len(ref.items) == count:
            return list(ref.items)
    tags = value.all_tags()
    if value.objects("list"):
        return [elements(value)] * count
    if "labelled" in tags:
        return [Value(tags=tags | {"ce"}), *[Value(tags=tags)] * (count - 1)]
    keep = tuple(ref for ref in value.refs if isinstance(ref, Obj) and ref.kind in ("model", "trainer"))
    return [Value(keep, tags)] * count


def _load(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    if isinstance(target, ast.Attribute):
        return ast.Attribute(target.value, target.attr, ast.Load())
    if isinstance(target, ast.Subscript):
        return ast.Subscript(target.value, target.slice, ast.Load())
    return target
