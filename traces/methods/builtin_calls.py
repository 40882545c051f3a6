"""Python's own functions, `os`, `sys` and `importlib`, on abstract values."""

import ast
import posixpath

from traces.methods.core import PLATFORM_VARIABLES, Args, Core, ProgramExit
from traces.methods.expressions import elements
from traces.methods.folding import joined_path
from traces.methods.modules import MAX_INLINE
from traces.methods.outside import function, method
from traces.methods.values import UNKNOWN, Class, Function, Obj, OuterMethod, Scope, Value, const, join, listed


@function("sys.exit", "builtins.exit", "builtins.quit", "os._exit", "os.abort")
def _exit(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    raise ProgramExit


@function("os.getenv", "os.environ.get", "os.environ.setdefault")
def _getenv(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    key = args.get("key", 0).text()
    if key is None:
        return UNKNOWN
    if key in machine.environment:
        text = machine.environment[key]
        return const(text, exact="$" not in text)
    if key in PLATFORM_VARIABLES:
        return const(f"${key}", exact=False)
    return args.get("default", 1) if len(args.positional) > 1 or "default" in args.keywords else const(None)


@function("os.path.join", "posixpath.join", "Path", "PurePath", "joinpath")
def _join(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    return joined_path(*args.positional).tagged(args.tags()) if args.positional else const(".")


@method("joinpath")
def _joinpath(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value:
    return joined_path(receiver, *args.positional)


@function("os.path.dirname")
def _dirname(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    text = args.get("p", 0).text()
    return const(posixpath.dirname(text)) if text is not None else UNKNOWN


@function(
    "os.path.abspath",
    "os.path.realpath",
    "os.path.expanduser",
    "os.path.normpath",
    "os.fspath",
    "builtins.str",
    "deepcopy",
)
def _same(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    first = args.get("path", 0)
    known = first.constant()
    if name == "builtins.str" and known is not None:
        return const(str(known.value)[:4000]).tagged(first.tags)
    if name.endswith("deepcopy"):
        return _copied(machine, first)
    return first


def _copied(machine: Core, value: Value) -> Value:
    made = []
    for ref in value.refs:
        if isinstance(ref, Obj) and ref.kind == "model":
            twin = machine.model(ref.name, ref.tags)
            twin.lineage, twin.touched = ref.lineage, ref.touched
            made.append(twin)
    return Value(tuple(made), value.all_tags()) if made else Value(value.refs, value.all_tags())


@method("resolve", "absolute", "expanduser", "as_posix", "with_suffix")
def _same_path(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    return receiver if receiver.text() is not None else None


@function("builtins.getattr")
def _getattr(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    key = args.get("name", 1).text()
    found = machine.attribute(args.get("object", 0), key, scope) if key else UNKNOWN
    known = found.refs and not any(isinstance(ref, OuterMethod) for ref in found.refs)
    return found if known or len(args.positional) < 3 else join(found, args.positional[2])


@function("builtins.setattr")
def _setattr(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    key = args.get("name", 1).text()
    for ref in args.get("obj", 0).refs:
        if isinstance(ref, Obj) and key is not None:
            ref.attrs[key] = args.get("value", 2)
    return UNKNOWN


@function("builtins.globals", "builtins.locals", "builtins.vars")
def _globals(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    names = scope.module().names if name.endswith("globals") or scope.parent is None else scope.names
    return Value((Obj("dict", table=dict(names)),))


@function("builtins.super")
def _super(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    running = next((each for each in reversed(machine.stack) if each.owner is not None), None)
    if running is None or running.owner is None or isinstance(running.node, ast.Lambda):
        return UNKNOWN
    first = running.node.args.args[0].arg if running.node.args.args else ""
    at: Scope | None = scope
    while at is not None and first not in at.names:
        at = at.parent
    owner = running.owner
    above = Class(owner.name, owner.scope, owner.bases, {})
    for ref in at.names[first].refs if at is not None else ():
        if isinstance(ref, Obj):
            return Value((Obj(ref.kind, cls=above, name=ref.name, attrs=ref.attrs, tags=ref.tags),))
    return UNKNOWN


@function("builtins.__import__", "importlib.import_module", "import_module")
def _import(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    dotted = args.get("name", 0).constant()
    return machine.import_module(dotted.value, scope) if dotted and isinstance(dotted.value, str) else None


@function("builtins.exec", "builtins.eval")
def _exec(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    known = args.get("source", 0).constant()
    if known is None or not isinstance(known.value, str) or len(known.value) > MAX_INLINE:
        machine.store.note(scope.path, machine.line(node), f"{name.rpartition('.')[2]}() of text that is not known")
        return UNKNOWN
    if name.endswith("eval"):
        try:
            return machine.evaluate(ast.parse(known.value, mode="eval").body, scope)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return UNKNOWN
    machine.run_text(known.value, scope)
    return UNKNOWN


@function("runpy.run_path", "run_path")
def _run_path(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    path = args.get("path_name", 0).text()
    main = args.get("run_name", 1).text() == "__main__"
    if path is not None and main:
        machine.run_command(["python", path], {}, machine.place(node, scope))
    return UNKNOWN


@function("builtins.int", "builtins.float", "builtins.bool")
def _number(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    value = args.get("x", 0)
    known = value.constant()
    tags = value.all_tags()
    if known is None:
        return Value(tags=tags | {"judged"}) if {"sampled", "text"} <= tags else Value(tags=tags)
    try:
        made = {"int": int, "float": float, "bool": bool}[name.rpartition(".")[2]](known.value)
    except (TypeError, ValueError, OverflowError):
        return UNKNOWN
    return const(made).tagged(tags)


@function("builtins.list", "builtins.tuple", "builtins.set", "builtins.reversed", "builtins.iter", "deque")
def _list(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    if not args.positional:
        return listed([], exact=True)
    first = args.positional[0]
    held = first.objects("list")
    items = [item for ref in held for item in ref.items] if held else []
    made = listed(items or [elements(first)], exact=bool(held) and all(ref.exact for ref in held))
    return made.tagged(first.all_tags())


@function("builtins.dict", "defaultdict", "OrderedDict", "Counter")
def _dict(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    made = Obj("dict", table=dict(args.keywords), exact=not args.positional and args.rest is None)
    made.exact = made.exact and name == "builtins.dict"
    made.tags = set(args.tags())
    for value in args.positional:
        for held in value.objects("dict"):
            made.table.update(held.table)
    return Value((made,))


@function("builtins.zip")
def _zip(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    return listed([listed([elements(each) for each in args.positional])], exact=False)


@function("builtins.enumerate")
def _enumerate(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    first = args.get("iterable", 0)
    held = first.objects("list")
    if len(held) == len(first.refs) == 1 and held[0].exact:
        return listed(listed([const(place), item]) for place, item in enumerate(held[0].items))
    return listed([listed([UNKNOWN, elements(first)])], exact=False)


@function("builtins.filter")
def _filter(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    tags = args.tags()
    return Value(tags=tags | {"filtered"} if "sampled" in tags else tags)


@function("builtins.next")
def _next(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    return elements(args.get("iterator", 0))


@function("builtins.hasattr", "builtins.isinstance", "builtins.callable", "builtins.id", "builtins.type")
def _unknown(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    return UNKNOWN


@function("builtins.len")
def _len(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    return Value(tags=args.tags() & {"text", "sampled", "judged"})


@method("append", "add", "extend", "update", "insert", "appendleft", "put")
def _append(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    more = [machine.guarded(each) for each in args.all()]
    tags = frozenset().union(*(each.all_tags() for each in more))
    seen = False
    for ref in receiver.refs:
        if not (isinstance(ref, Obj) and ref.kind in ("list", "dict", "instance", "external")):
            continue
        seen = True
        ref.tags |= tags
        if ref.kind == "list" and args.callee in ("append", "add", "insert", "appendleft"):
            ref.items = [*ref.items, *more][-64:]
        elif ref.kind == "list":
            ref.items = [*ref.items, *(item for each in more for held in each.objects("list") for item in held.items)][
                -64:
            ]
            ref.exact = ref.exact and all(held.exact for each in more for held in each.objects("list")) and bool(more)
        elif ref.kind == "dict":
            for held in (held for each in more for held in each.objects("dict")):
                ref.table.update(held.table)
            ref.table.update(args.keywords)
        if machine.loops or machine.control:
            ref.exact = False
    _rebind(machine, receiver, tags, node, scope)
    return UNKNOWN if seen else None


def _rebind(machine: Core, receiver: Value, tags: frozenset[str], node: ast.AST, scope: Scope) -> None:
    """`groups[key].append(x)` and `unknown.append(x)`: the tags must reach the name."""
    target = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    is_group = isinstance(target, ast.Subscript)
    while isinstance(target, ast.Subscript | ast.Call):
        inner = target.value if isinstance(target, ast.Subscript) else target.func
        target = inner.value if isinstance(inner, ast.Attribute) else inner
    if not isinstance(target, ast.Name) or not tags or (receiver.refs and not is_group):
        return
    holder = machine.evaluate(target, scope)
    if any(isinstance(ref, Function) for ref in holder.refs):
        return
    more = tags | ({"grouped"} if is_group and "judged" in tags else set())
    for ref in holder.refs:
        if isinstance(ref, Obj):
            ref.tags |= more
    if not holder.refs:
        machine.set_name(target.id, holder.tagged(more), scope)


@method("get", "pop", "setdefault")
def _get(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    key = args.get("key", 0).constant()
    default = args.positional[1] if len(args.positional) > 1 else const(None)
    for ref in receiver.objects("dict"):
        if key is not None and key.value in ref.table:
            return ref.table[key.value]
        if ref.exact and key is not None:
            return default
        return (
            join(*ref.table.values(), default).tagged(receiver.all_tags())
            if ref.table
            else Value(tags=receiver.all_tags())
        )
    return None


@method("items", "values", "keys")
def _items(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    tags = receiver.all_tags()
    for ref in receiver.objects("dict"):
        pairs = list(ref.table.items())
        held = {"items": [listed([const(k), v]) for k, v in pairs], "values": [v for _, v in pairs]}
        parts = held.get(args.callee, [const(k) for k, _ in pairs])
        return listed(parts or [Value(tags=tags)], exact=ref.exact and bool(parts)).tagged(tags)
    if args.callee == "items":
        return listed([listed([UNKNOWN, Value(tags=tags)])], exact=False)
    return None
