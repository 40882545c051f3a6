"""What the reader of code knows about a value: what it may be, and the tags it carries.

Tags say where numbers come from: `sampled` (made by a model), `text` (decoded), `judged` (a verdict on sampled text),
`logprob`, `ce`, `ratio`, … (see `tagging`). They pass through arithmetic, calls and containers.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from traces.methods.store import Step

MAX_ALTERNATIVES = 6


@dataclass(frozen=True, slots=True)
class Const:
    """A known constant. Text that is not `exact` has `*` or `$NAME` for its unknown parts."""

    value: Any
    exact: bool = True


@dataclass(frozen=True, slots=True)
class External:
    """Something of a module outside the folder, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """One alternative is unknown."""


@dataclass(eq=False, slots=True)
class Scope:
    """Names of a module or of one call; `parent` is the enclosing scope."""

    path: str
    parent: "Scope | None" = None
    names: dict[str, "Value"] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)
    """Names declared `global` or `nonlocal`."""

    def module(self) -> "Scope":
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


@dataclass(eq=False, slots=True)
class Function:
    """A function, method or lambda of the folder."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    owner: "Class | None" = None
    decorators: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


@dataclass(eq=False, slots=True)
class Class:
    """A class of the folder."""

    name: str
    scope: Scope
    bases: tuple["Value", ...]
    members: dict[str, "Value"]
    fields: tuple[str, ...] = ()
    """Annotated names, a dataclass's parameters."""

    def find(self, name: str, depth: int = 0) -> "Value | None":
        if name in self.members:
            return self.members[name]
        for base in self.local_bases():
            found = base.find(name, depth + 1) if depth < 8 else None
            if found is not None:
                return found
        return None

    def local_bases(self) -> list["Class"]:
        return [ref for base in self.bases for ref in base.refs if isinstance(ref, Class) and ref is not self]

    def external_bases(self, depth: int = 0) -> list[str]:
        names = [ref.name for base in self.bases for ref in base.refs if isinstance(ref, External)]
        for base in self.local_bases() if depth < 8 else ():
            names += base.external_bases(depth + 1)
        return names


@dataclass(eq=False, slots=True)
class Obj:
    """A thing with state. `kind` is instance, list, dict, model, weights, trainer, file, parser, app or external."""

    kind: str
    cls: Class | None = None
    name: str = ""
    """The dotted name of an external class, or a path."""
    attrs: dict[str, "Value"] = field(default_factory=dict)
    items: list["Value"] = field(default_factory=list)
    table: dict[Any, "Value"] = field(default_factory=dict)
    exact: bool = False
    """Whether `items` or `table` are all there is."""
    tags: set[str] = field(default_factory=set)
    lineage: tuple["Step", ...] = ()
    touched: bool = False
    """Whether a model's weights were changed by something that is no step."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A method of the folder with its object."""

    function: Function
    owner: Obj


@dataclass(frozen=True, slots=True)
class OuterMethod:
    """A method, from outside the folder, of an object."""

    owner: Obj
    name: str


Ref = Const | External | Opaque | Function | Class | Obj | Bound | OuterMethod | Scope


@dataclass(frozen=True, slots=True)
class Value:
    """Alternatives (none: nothing is known) and tags."""

    refs: tuple[Ref, ...] = ()
    tags: frozenset[str] = frozenset()

    def tagged(self, tags: Iterable[str]) -> "Value":
        more = frozenset(tags)
        return self if more <= self.tags else Value(self.refs, self.tags | more)

    def all_tags(self) -> frozenset[str]:
        """Its own tags and those of what it holds."""
        found = self.tags
        for ref in self.refs:
            if isinstance(ref, Obj) and ref.tags:
                found |= ref.tags
        return found

    def objects(self, kind: str) -> list[Obj]:
        return [ref for ref in self.refs if isinstance(ref, Obj) and ref.kind == kind]

    def constant(self) -> Const | None:
        """The one known constant, exact."""
        ref = self.refs[0] if len(self.refs) == 1 else None
        return ref if isinstance(ref, Const) and ref.exact else None

    def text(self) -> str | None:
        """The one known text, perhaps with unknown parts."""
        ref = self.refs[0] if len(self.refs) == 1 else None
        return ref.value if isinstance(ref, Const) and isinstance(ref.value, str) else None

    def texts(self) -> list[str]:
        """Every text among the alternatives and, one level down, in lists and dicts."""
        found = []
        for ref in self.refs:
            if isinstance(ref, Const) and isinstance(ref.value, str):
                found.append(ref.value)
            elif isinstance(ref, Obj) and ref.kind in ("list", "dict"):
                inner = [*ref.items, *ref.table.values()]
                found += [text for each in inner if (text := each.text()) is not None]
            elif isinstance(ref, Obj) and ref.kind == "file":
                found.append(ref.name)
        return found


UNKNOWN = Value()


def const(value: Any, *, exact: bool = True) -> Value:
    return Value((Const(value, exact),))


def join(*values: Value) -> Value:
    """What holds when any of `values` may."""
    refs: list[Ref] = []
    tags: frozenset[str] = frozenset()
    for value in values:
        tags |= value.tags
        for ref in value.refs or (Opaque(),):
            if ref not in refs:
                refs.append(ref)
    if len(refs) == 1 and isinstance(refs[0], Opaque):
        refs = []
    return Value(tuple(refs[:MAX_ALTERNATIVES]), tags)


def listed(items: Iterable[Value], *, exact: bool = True) -> Value:
    held = list(items)
    made = Obj("list", items=held, exact=exact)
    made.tags = set().union(*(each.all_tags() for each in held)) if held else set()
    return Value((made,))
