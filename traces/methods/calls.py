"""Calls: the folder's own functions and classes are followed; everything else goes to `outside`."""

import ast

from traces.methods.arguments import hydra_arguments, run_commands
from traces.methods.core import MAX_CALLS, MAX_DEPTH, Args, Core
from traces.methods.folding import folded_method
from traces.methods.libraries import trainer_method
from traces.methods.tagging import named
from traces.methods.values import (
    UNKNOWN,
    Bound,
    Class,
    Const,
    External,
    Function,
    Obj,
    OuterMethod,
    Scope,
    Value,
    const,
    join,
    listed,
)

FREEZING = frozenset({"no_grad", "inference_mode"})
SAME_MODEL = frozenset({"module", "base_model", "pretrained_model", "model"})


class Calls(Core):
    """Evaluate a call, a method call, and the attributes between them."""

    def _Call(self, node: ast.Call, scope: Scope) -> Value:
        args = self._args(node, scope)
        if isinstance(node.func, ast.Attribute):
            args.callee = node.func.attr
            receiver = self.evaluate(node.func.value, scope)
            return self.call_method(receiver, node.func.attr, args, node, scope)
        args.callee = node.func.id if isinstance(node.func, ast.Name) else ""
        return self.call(self.evaluate(node.func, scope), args, node, scope)

    def _args(self, node: ast.Call, scope: Scope) -> Args:
        args = Args()
        rest: list[Value] = []
        for each in node.args:
            if not isinstance(each, ast.Starred):
                args.positional.append(self.evaluate(each, scope))
                continue
            value = self.evaluate(each.value, scope)
            held = [ref for ref in value.objects("list") if ref.exact]
            if held and len(value.refs) == 1:
                args.positional += held[0].items
            else:
                rest.append(value)
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            if keyword.arg is not None:
                args.keywords[keyword.arg] = value
                continue
            rest.append(value)
            for held_dict in value.objects("dict"):
                args.keywords.update({key: each for key, each in held_dict.table.items() if isinstance(key, str)})
        if rest:
            args.rest = Value(tags=join(*rest).all_tags().union(*(each.all_tags() for each in rest)))
        return args

    def call(self, callee: Value, args: Args, node: ast.AST, scope: Scope) -> Value:
        results = []
        several = sum(isinstance(ref, Function | Bound | Class | External) for ref in callee.refs) > 1
        if several:
            self.doubts.append(f"one of several things that line {self.line(node)} may call")
        self.sites.append(self.line(node))
        try:
            for ref in callee.refs:
                results.append(self._call_one(ref, args, node, scope))
        finally:
            self.sites.pop()
            if several:
                self.doubts.pop()
        if not callee.refs:
            results.append(self.external_call("", args, node, scope).tagged(callee.tags))
        return join(*results)

    def _call_one(self, ref: object, args: Args, node: ast.AST, scope: Scope) -> Value:
        if isinstance(ref, Function):
            result = self.invoke(ref, args)
            run_commands(self, ref)
            return result
        if isinstance(ref, Bound):
            return self.invoke(ref.function, args, ref.owner)
        if isinstance(ref, Class):
            return self.instantiate(ref, args)
        if isinstance(ref, External):
            return self.external_call(ref.name, args, node, scope)
        if isinstance(ref, OuterMethod):
            return self.call_method(Value((ref.owner,)), ref.name, args, node, scope)
        if isinstance(ref, Obj):
            return self._call_object(ref, args, node, scope)
        return Value(tags=args.tags())

    def _call_object(self, owner: Obj, args: Args, node: ast.AST, scope: Scope) -> Value:
        if owner.kind == "app":
            run_commands(self, owner)
            return UNKNOWN
        if owner.cls is not None:
            for name in ("__call__", "forward"):
                found = owner.cls.find(name)
                if found is not None and found.refs and isinstance(found.refs[0], Function):
                    return self.invoke(found.refs[0], args, owner).tagged(owner.tags & {"value"})
        return self.object_call(owner, args, node, scope)

    def call_method(self, receiver: Value, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
        args.callee = args.callee or name
        results = []
        outer = Value(tuple(ref for ref in receiver.refs if not self._is_ours(ref, name)), receiver.tags)
        for ref in receiver.refs:
            if self._is_ours(ref, name):
                found = self.attribute(Value((ref,)), name, scope)
                results.append(self.call(found, args, node, scope))
            elif isinstance(ref, Scope | Class):
                results.append(self.call(self.attribute(Value((ref,)), name, scope), args, node, scope))
            elif isinstance(ref, External) and len(receiver.refs) == 1:
                return self.external_call(f"{ref.name}.{name}", args, node, scope)
            elif isinstance(ref, Function):
                return self._function_method(ref, name, args, node, scope)
        if isinstance(outer, Value) and (outer.refs or not receiver.refs) and not results:
            folded = folded_method(receiver, name, args.positional)
            results.append(folded if folded.refs else self.outer_method(outer, name, args, node, scope))
        return join(*results) if results else Value(tags=receiver.all_tags() | args.tags())

    def _is_ours(self, ref: object, name: str) -> bool:
        """Whether a method or callable attribute of the folder answers to `name`."""
        if isinstance(ref, Obj):
            held = ref.attrs.get(name)
            if held is not None and held.refs and ref.kind != "trainer":
                return True
            return ref.cls is not None and ref.cls.find(name) is not None
        return False

    def _function_method(self, ref: Function, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
        """`train.remote(x)`, `train.delay(x)`, `train.options(…).remote(x)`: still a call of `train`."""
        if name in ("options", "command", "callback"):
            return Value((ref,))
        return self.call(Value((ref,)), args, node, scope)

    def invoke(self, function: Function, args: Args, owner: Obj | Class | None = None) -> Value:
        key = id(function.node)
        count = self.calls.get(key, 0)
        if function in self.stack or len(self.stack) >= MAX_DEPTH or count >= MAX_CALLS:
            return self.results.get(key, UNKNOWN).tagged(args.tags())
        self.calls[key] = count + 1
        if not args.all() and "main" in function.decorators:
            args = Args(hydra_arguments(self, function))
        inner = Scope(function.scope.path, function.scope)
        self._bind(function, args, owner, inner)
        self.stack.append(function)
        frozen = bool(FREEZING & set(function.decorators))
        self.frozen += frozen
        try:
            result = self._body(function, inner)
        finally:
            self.frozen -= frozen
            self.stack.pop()
        self.results[key] = result
        return result

    def _body(self, function: Function, inner: Scope) -> Value:
        if isinstance(function.node, ast.Lambda):
            return self.evaluate(function.node.body, inner)
        self.returns.append([])
        try:
            self.execute(function.node.body, inner)
        finally:
            returned = self.returns.pop()
            self.leftover = None
        name_tags = named(function.name, frozenset())
        result = join(*returned) if returned else const(None)
        return result.tagged(name_tags & {"judged"}) if returned and not self.is_reached_as_bound(result) else result

    def _bind(self, function: Function, args: Args, owner: Obj | Class | None, inner: Scope) -> None:
        given = list(args.positional)
        if function.owner is not None and owner is not None and "staticmethod" not in function.decorators:
            given.insert(0, Value((owner,)))
        spec = function.node.args
        names = [each.arg for each in (*spec.posonlyargs, *spec.args)]
        defaults = dict(zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True))
        defaults |= {a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
        unknown = args.rest or UNKNOWN
        for place, name in enumerate([*names, *(each.arg for each in spec.kwonlyargs)]):
            if place < len(given) and place < len(names):
                value = given[place]
            elif name in args.keywords:
                value = args.keywords[name]
            elif args.rest is not None:
                value = unknown
            else:
                value = self.evaluate(defaults[name], function.scope) if name in defaults else UNKNOWN
            self.set_name(name, value, inner)
        if spec.vararg is not None:
            inner.names[spec.vararg.arg] = listed(given[len(names) :], exact=args.rest is None)
        if spec.kwarg is not None:
            extra = {key: each for key, each in args.keywords.items() if key not in inner.names}
            held = Obj("dict", table=dict(extra), exact=args.rest is None)
            held.tags = set(unknown.all_tags().union(*(each.all_tags() for each in extra.values())))
            inner.names[spec.kwarg.arg] = Value((held,))

    def instantiate(self, made: Class, args: Args) -> Value:
        trainer = next((base for base in made.external_bases() if trainer_method(base)), None)
        owner = Obj("trainer" if trainer else "instance", cls=made, name=trainer or made.name)
        owner.tags = set(args.tags()) if trainer else set()
        owner.attrs.update({name: args.keywords[name] for name in made.fields if name in args.keywords})
        for name, value in zip(made.fields, args.positional, strict=False):
            owner.attrs[name] = value
        init = made.find("__init__")
        if init is not None and init.refs and isinstance(init.refs[0], Function):
            self.invoke(init.refs[0], args, owner)
        if trainer:
            for name, value in args.keywords.items():
                owner.attrs.setdefault(name, value)
            if args.positional:
                owner.attrs.setdefault("model", args.positional[0])
        post = made.find("__post_init__")
        if post is not None and post.refs and isinstance(post.refs[0], Function):
            self.invoke(post.refs[0], Args(), owner)
        return Value((owner,))

    def attribute(self, value: Value, name: str, scope: Scope) -> Value:
        found = [self._attribute_of(ref, name, scope) for ref in value.refs]
        known = [each for each in found if each is not None]
        tags = self._attribute_tags(value.all_tags(), name)
        if not known:
            return Value(tags=tags)
        result = join(*known)
        return result if any(isinstance(ref, Obj) and name in ref.attrs for ref in value.refs) else result.tagged(tags)

    def _attribute_of(self, ref: object, name: str, scope: Scope) -> Value | None:
        if isinstance(ref, Scope):
            return ref.names.get(name)
        if isinstance(ref, External):
            return Value((External(f"{ref.name}.{name}" if ref.name else name),))
        if isinstance(ref, Class):
            return ref.find(name)
        if isinstance(ref, Const) and isinstance(ref.value, str):
            return _path_part(ref, name)
        if isinstance(ref, OuterMethod):
            return Value((OuterMethod(ref.owner, name),))
        if not isinstance(ref, Obj):
            return None
        if ref.kind == "model" and name in SAME_MODEL:
            return Value((ref,))
        if name in ref.attrs:
            return ref.attrs[name]
        if ref.kind == "dict" and name in ref.table:
            return ref.table[name]
        member = ref.cls.find(name) if ref.cls is not None else None
        if member is not None:
            return self._member(ref, member)
        return Value((OuterMethod(ref, name),))

    def _member(self, owner: Obj, member: Value) -> Value:
        function = member.refs[0] if len(member.refs) == 1 else None
        if not isinstance(function, Function):
            return member
        if "property" in function.decorators or "cached_property" in function.decorators:
            return self.invoke(function, Args(), owner)
        if "staticmethod" in function.decorators:
            return member
        return Value((Bound(function, owner),))

    def _attribute_tags(self, tags: frozenset[str], name: str) -> frozenset[str]:
        if name == "loss" and "out" in tags:
            return tags | {"ce"}
        if name == "logits":
            return tags | {"logits"}
        if name in ("text", "generated_text") and "sampled" in tags:
            return tags | {"text"}
        if name == "grad":
            return frozenset({"grad"})
        if name in ("shape", "dtype", "device", "size", "ndim"):
            return frozenset()
        return tags | named(name, tags)


def _path_part(ref: Const, name: str) -> Value | None:
    text: str = ref.value
    if name == "parent":
        return const(text.rpartition("/")[0], exact=ref.exact)
    if name in ("name", "stem"):
        last = text.rpartition("/")[2]
        return const(last.rpartition(".")[0] or last if name == "stem" else last, exact=ref.exact)
    return None
