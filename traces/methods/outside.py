"""What lies outside the folder: a table of known functions, and a rule for all others."""

import ast
import re
from collections.abc import Callable

from traces.methods.core import Args, Core
from traces.methods.libraries import is_lightning, loss_method, trainer_method
from traces.methods.tagging import (
    DECODE,
    GENERATE,
    JUDGING,
    OPTIMISER,
    REFERENCE_NAME,
    TEACHER_NAME,
    TOKENISE,
    VALUE_NAME,
    derived,
    tokenised,
)
from traces.methods.values import Bound, Function, Obj, Scope, Value

Handler = Callable[["Core", str, Args, ast.AST, Scope], Value | None]
FUNCTIONS: dict[str, Handler] = {}
"""Dotted name, or last part, of a function → its model; `None` from it means: as any other."""
METHODS: dict[str, Callable[["Core", Value, Args, ast.AST, Scope], Value | None]] = {}

MODEL_NAME = re.compile(
    r"(?i)(model|policy|actor|student|teacher|engine|backbone|network|critic)(_\w+)?$|^(net|lm|llm)$"
)
PLAIN = frozenset({"numel", "size", "nelement", "dim", "backward"})
BEST = frozenset({"max", "min", "sorted", "nlargest", "nsmallest"})


def function(*names: str) -> Callable[[Handler], Handler]:
    def add(handler: Handler) -> Handler:
        FUNCTIONS.update(dict.fromkeys(names, handler))
        return handler

    return add


def method(
    *names: str,
) -> Callable[
    [Callable[[Core, Value, Args, ast.AST, Scope], Value | None]],
    Callable[[Core, Value, Args, ast.AST, Scope], Value | None],
]:
    def add(
        handler: Callable[[Core, Value, Args, ast.AST, Scope], Value | None],
    ) -> Callable[[Core, Value, Args, ast.AST, Scope], Value | None]:
        METHODS.update(dict.fromkeys(names, handler))
        return handler

    return add


class Outside(Core):
    """Calls that leave the folder."""

    def external_call(self, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
        last = name.rpartition(".")[2]
        if trainer_method(name) is not None or is_lightning(name):
            return FUNCTIONS["<trainer>"](self, name, args, node, scope) or Value()
        for key in (name, last):
            handler = FUNCTIONS.get(key)
            if handler is not None:
                found = handler(self, name, args, node, scope)
                if found is not None:
                    return found
        if last in METHODS and "." in name.removeprefix("builtins."):
            result = METHODS[last](self, Value(), args, node, scope)
            if result is not None:
                return result
        return self._generic(last or args.callee, frozenset(), args, made=name)

    def outer_method(self, receiver: Value, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
        handler = METHODS.get(name)
        if handler is not None:
            found = handler(self, receiver, args, node, scope)
            if found is not None:
                return found
        return self._generic(name, receiver.all_tags(), args)

    def object_call(self, owner: Obj, args: Args, node: ast.AST, scope: Scope) -> Value:
        if owner.kind == "model":
            return self._model_call(args, owner)
        last = owner.name.rpartition(".")[2]
        return self._generic(last, frozenset(owner.tags), args)

    def _generic(self, name: str, more: frozenset[str], args: Args, made: str = "") -> Value:
        """Tags pass through; functions given to it are called by it."""
        tags = more | args.tags()
        called = args.callee or name
        if MODEL_NAME.search(called) and not made:
            return self._model_call(args, None).tagged(more)
        tags |= self._handed(args, tags)
        if name in PLAIN:
            return Value()
        tags = _passed(name, tags, args)
        if name in GENERATE and "samples" in self.loops[1:]:
            tags |= {"grouped"}
        if VALUE_NAME.search(called):
            tags |= {"value"}
        loss = loss_method(made or name)
        if loss is not None and tags:
            tags |= {f"loss:{loss}"}
        if made and made.rpartition(".")[2][:1].isupper():
            return self._made(made, tags, args)
        return Value(tags=tags)

    def _made(self, made: str, tags: frozenset[str], args: Args) -> Value:
        owner = Obj("external", name=made, tags=set(tags), attrs=dict(args.keywords))
        last = made.rpartition(".")[2]
        if last.endswith(("Config", "Arguments")) and args.positional:
            owner.attrs.setdefault("output_dir", args.positional[0])
        if OPTIMISER.search(last):
            owner.tags.add("optimiser")
        if last == "Linear" and (width := args.get("out_features", 1).constant()) is not None and width.value == 1:
            owner.tags.add("value")
        loss = loss_method(made)
        if loss is not None:
            owner.tags.add(f"loss:{loss}")
        return Value((owner,))

    def _handed(self, args: Args, tags: frozenset[str]) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for value in args.all():
            for ref in value.refs:
                if isinstance(ref, Function | Bound):
                    function = ref.function if isinstance(ref, Bound) else ref
                    result = self.invoke(
                        function, Args(rest=Value(tags=tags)), ref.owner if isinstance(ref, Bound) else None
                    )
                    found |= result.all_tags()
        return found

    def _model_call(self, args: Args, owner: Obj | None) -> Value:
        tags = args.tags() | {"out", "logits"}
        if "labels" in args.keywords or args.rest is not None or args.keywords.get("batch"):
            tags |= {"labelled"}
        name = args.callee
        if TEACHER_NAME.search(name):
            tags |= {"frozen"}
        if REFERENCE_NAME.search(name):
            tags |= {"frozen", "ref"}
        if VALUE_NAME.search(name):
            tags |= {"value"}
        if owner is not None:
            tags |= owner.tags
        if self.frozen:
            tags |= {"frozen"}
        elif owner is not None:
            tags |= owner.attrs["_tag"].tags
        return Value(tags=tags)


def _passed(name: str, tags: frozenset[str], args: Args) -> frozenset[str]:
    """The tags of a call's result, from those of what went in."""
    if TOKENISE.match(name) or "tokenizer" in args.callee.lower() or args.callee == "tok":
        return tokenised(tags)
    if name in GENERATE:
        grouped = any(each in args.keywords for each in ("num_return_sequences", "n")) or "many" in tags
        return tags | {"sampled"} | ({"grouped"} if grouped else set())
    if name in DECODE and "sampled" in tags:
        return tags | {"text"}
    if "sampled" in tags and (JUDGING.search(name) or JUDGING.search(args.callee)):
        tags |= {"judged"}
    if name in BEST and "text" in tags and "sampled" in tags:
        tags |= {"filtered"}
    if name in ("repeat_interleave",) and tags:
        tags |= {"many"}
    return tags | derived(name, tags)
