"""Statements: what is reached, in which order, and under which conditions."""

import ast
from collections.abc import Callable
from typing import Any

from traces.methods.core import Core, Flow, ProgramExit
from traces.methods.expressions import elements, loop_kind
from traces.methods.folding import folded_compare, truth
from traces.methods.values import Class, External, Function, Obj, Scope, Value, const, join

MAX_ITEMS = 12
FREEZING = frozenset({"no_grad", "inference_mode"})


class Statements(Core):
    """`execute` and one method for each kind of statement."""

    def execute(self, body: list[ast.stmt], scope: Scope) -> Flow:
        depth = len(self.control)
        try:
            for statement in body:
                self.budget.spend()
                handler: Callable[[Any, Scope], Flow | None] | None = getattr(
                    self, "_" + type(statement).__name__, None
                )
                flow = (handler(statement, scope) if handler else None) or Flow.NEXT
                if flow is not Flow.NEXT:
                    return flow
                if self.leftover is not None:
                    self.control.append(self.leftover)
                    self.leftover = None
            return Flow.NEXT
        finally:
            del self.control[depth:]

    def branch(self, bodies: list[list[ast.stmt]], scope: Scope, tags: frozenset[str], doubt: str) -> Flow:
        """Read every one of `bodies`, of which one runs; names then hold what any of them leaves."""
        before = dict(scope.names)
        ends: list[tuple[Flow, dict[str, Value]]] = []
        methods: list[set[str]] = []
        for body in bodies:
            scope.names = dict(before)
            known = set(self.store.steps)
            flow = self._conditional(body, scope, tags, doubt)
            methods.append({step.method for key, step in self.store.steps.items() if key not in known})
            ends.append((flow, scope.names))
        if len(methods) > 1 and methods[0] and all(each == methods[0] for each in methods):
            for step in self.store.steps.values():
                step.doubts = tuple(each for each in step.doubts if each != doubt)
        if self.exits:
            self.exits[-1] += [names for flow, names in ends if flow in (Flow.BREAK, Flow.CONTINUE)]
        open_ends = [names for flow, names in ends if flow is Flow.NEXT]
        scope.names = _united(open_ends or [names for _, names in ends])
        if not open_ends:
            return ends[0][0]
        if len(open_ends) < len(ends):
            self.leftover = tags
        return Flow.NEXT

    def _conditional(self, body: list[ast.stmt], scope: Scope, tags: frozenset[str], doubt: str) -> Flow:
        self.control.append(tags)
        self.doubts.append(doubt)
        try:
            return self.execute(body, scope)
        except ProgramExit:
            return Flow.RETURN
        finally:
            self.doubts.pop()
            self.control.pop()
            self.leftover = None

    def _If(self, node: ast.If, scope: Scope) -> Flow:
        test = self.evaluate(node.test, scope)
        known = truth(test)
        if known is not None:
            return self.execute(node.body if known else node.orelse, scope)
        doubt = f"inside a branch (line {node.lineno}) whose condition is not known"
        return self.branch([node.body, node.orelse], scope, test.all_tags(), doubt)

    def _Match(self, node: ast.Match, scope: Scope) -> Flow:
        subject = self.evaluate(node.subject, scope)
        bodies: list[list[ast.stmt]] = []
        for case in node.cases:
            known = self._matches(case.pattern, subject, scope)
            if known is True and case.guard is None and not bodies:
                return self.execute(case.body, scope)
            if known is not False:
                bodies.append(case.body)
        doubt = f"inside a match (line {node.lineno}) whose subject is not known"
        return self.branch([*bodies, []], scope, subject.all_tags(), doubt) if bodies else Flow.NEXT

    def _matches(self, pattern: ast.pattern, subject: Value, scope: Scope) -> bool | None:
        if isinstance(pattern, ast.MatchValue):
            return folded_compare(ast.Eq(), subject, self.evaluate(pattern.value, scope))
        if isinstance(pattern, ast.MatchOr):
            each = [self._matches(one, subject, scope) for one in pattern.patterns]
            return True if True in each else (None if None in each else False)
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
            if pattern.name:
                self.set_name(pattern.name, subject, scope)
            return True
        return None

    def _For(self, node: ast.For | ast.AsyncFor, scope: Scope) -> Flow:
        holder = self.evaluate(node.iter, scope)
        ref = holder.refs[0] if len(holder.refs) == 1 else None
        self.loops.append(loop_kind(node.target, node.iter))
        self.exits.append([])
        try:
            if isinstance(ref, Obj) and ref.kind == "list" and ref.exact and len(ref.items) <= MAX_ITEMS:
                flow = self._each(node, list(ref.items), scope)
            else:
                passes = 2 if len(self.loops) == 1 else 1
                flow = self._each(node, [elements(holder)] * passes, scope)
        finally:
            self.loops.pop()
            self._leave_loop(scope)
        return flow if flow is Flow.RETURN else self.execute(node.orelse, scope)

    _AsyncFor = _For

    def _each(self, node: ast.For | ast.AsyncFor, items: list[Value], scope: Scope) -> Flow:
        for item in items:
            self.assign(node.target, item, scope)
            flow = self.execute(node.body, scope)
            if flow is Flow.BREAK:
                break
            if flow is Flow.RETURN:
                return flow
        return Flow.NEXT

    def _While(self, node: ast.While, scope: Scope) -> Flow:
        self.loops.append("loop")
        self.exits.append([])
        try:
            for _ in range(2 if len(self.loops) == 1 else 1):
                if truth(self.evaluate(node.test, scope)) is False:
                    break
                flow = self.execute(node.body, scope)
                if flow is Flow.RETURN:
                    return flow
                if flow is Flow.BREAK:
                    break
        finally:
            self.loops.pop()
            self._leave_loop(scope)
        return self.execute(node.orelse, scope)

    def _leave_loop(self, scope: Scope) -> None:
        scope.names = _united([scope.names, *self.exits.pop()[:MAX_ITEMS]])

    def _Try(self, node: ast.Try, scope: Scope) -> Flow:
        flow = self.execute(node.body, scope)
        for each in node.handlers:
            doubt = f"in an exception handler (line {each.lineno})"
            self.branch([each.body, []], scope, frozenset(), doubt)
            self.leftover = None
        if flow is Flow.NEXT:
            flow = self.execute(node.orelse, scope)
        last = self.execute(node.finalbody, scope)
        return flow if last is Flow.NEXT else last

    _TryStar = _Try

    def _With(self, node: ast.With | ast.AsyncWith, scope: Scope) -> Flow:
        froze = 0
        for item in node.items:
            value = self.evaluate(item.context_expr, scope)
            froze += any(isinstance(ref, External) and ref.name in FREEZING for ref in value.refs)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, scope)
        self.frozen += froze
        try:
            return self.execute(node.body, scope)
        finally:
            self.frozen -= froze

    _AsyncWith = _With

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        names = tuple(_dotted(each).rpartition(".")[2] for each in node.decorator_list)
        made = Function(node, scope, decorators=names)
        for each in node.decorator_list:
            target = each.func if isinstance(each, ast.Call) else each
            if isinstance(target, ast.Attribute) and target.attr in ("command", "callback"):
                for ref in self.evaluate(target.value, scope).refs:
                    known = self.commands.setdefault(id(ref), [])
                    given = each.args[0] if isinstance(each, ast.Call) and each.args else None
                    called = given.value if isinstance(given, ast.Constant) else node.name.replace("_", "-")
                    known.append((str(called), made))
        scope.names[node.name] = Value((made,))

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef, scope: Scope) -> None:
        inner = Scope(scope.path, scope)
        bases = tuple(self.evaluate(each, scope) for each in node.bases if not isinstance(each, ast.Starred))
        self.execute(node.body, inner)
        fields = tuple(
            each.target.id
            for each in node.body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        )
        made = Class(node.name, scope, bases, inner.names, fields)
        for value in inner.names.values():
            for ref in value.refs:
                if isinstance(ref, Function) and ref.owner is None and ref.scope is inner:
                    ref.owner = made
                    ref.scope = scope
        scope.names[node.name] = Value((made,))

    def _Return(self, node: ast.Return, scope: Scope) -> Flow:
        value = self.evaluate(node.value, scope) if node.value is not None else const(None)
        tags = self.control_tags()
        if "sampled" in tags and tags & {"judged", "text"}:
            known = value.constant()
            if known is not None and isinstance(known.value, bool | int | float):
                value = Value((), value.tags | tags | {"judged"})
            value = self.guarded(value)
        if self.returns:
            self.returns[-1].append(value)
        return Flow.RETURN

    def _Raise(self, node: ast.Raise, scope: Scope) -> Flow:
        return Flow.RETURN

    def _Break(self, node: ast.Break, scope: Scope) -> Flow:
        return Flow.BREAK

    def _Continue(self, node: ast.Continue, scope: Scope) -> Flow:
        return Flow.CONTINUE

    def _Expr(self, node: ast.Expr, scope: Scope) -> None:
        self.evaluate(node.value, scope)

    def _Assert(self, node: ast.Assert, scope: Scope) -> Flow:
        return Flow.RETURN if truth(self.evaluate(node.test, scope)) is False else Flow.NEXT

    def _Global(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
        scope.outer.update(node.names)

    _Nonlocal = _Global

    def _Delete(self, node: ast.Delete, scope: Scope) -> None:
        for each in node.targets:
            if isinstance(each, ast.Name):
                scope.names.pop(each.id, None)

    def _Import(self, node: ast.Import, scope: Scope) -> None:
        for each in node.names:
            value = self.import_module(each.name, scope)
            if each.asname is None and "." in each.name:
                value = self.import_module(each.name.partition(".")[0], scope)
            scope.names[each.asname or each.name.partition(".")[0]] = value

    def _ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        module = self.import_module(node.module or "", scope, node.level)
        for each in node.names:
            if each.name == "*":
                for ref in module.refs:
                    if isinstance(ref, Scope):
                        scope.names.update(ref.names)
                    elif isinstance(ref, External):
                        scope.names.setdefault("*", Value((ref,)))
                continue
            scope.names[each.asname or each.name] = self._imported(module, each.name, node, scope)

    def _imported(self, module: Value, name: str, node: ast.ImportFrom, scope: Scope) -> Value:
        for ref in module.refs:
            if isinstance(ref, Scope) and name in ref.names:
                return ref.names[name]
            if isinstance(ref, External):
                return Value((External(f"{ref.name}.{name}" if ref.name else name),))
        return self.import_module(f"{node.module}.{name}" if node.module else name, scope, node.level)


def _united(ends: list[dict[str, Value]]) -> dict[str, Value]:
    if len(ends) == 1:
        return ends[0]
    names: dict[str, Value] = {}
    for name in dict.fromkeys(name for end in ends for name in end):
        held = [end[name] for end in ends if name in end]
        names[name] = held[0] if all(each is held[0] for each in held) else join(*held)
    return names


def _dotted(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
