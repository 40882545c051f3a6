"""The state of one reading of code, and what its parts ask of each other.

The reader follows code as an interpreter would, on abstract values (`values`): calls of the folder's own functions are
followed, both sides of an undecidable branch are read, loops are read twice. Nothing is ever executed.
"""

import ast
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import Enum, auto

from traces.methods.sources import Sources
from traces.methods.store import Step, Store
from traces.methods.values import UNKNOWN, Bound, Class, Function, Obj, Scope, Value

MAX_FUEL = 400_000
MAX_DEPTH = 40
MAX_CALLS = 24
"""How often one function is read again for other arguments."""

PLATFORM_VARIABLES = frozenset(
    {"TASK", "BASE_MODEL", "WORKSPACE", "MODEL_PATH", "DATA_PATH", "OUTPUT_DIR", "GRADING_SERVER_URL"}
)


class OutOfBudget(Exception):
    """Time or steps ran out; what was found until then stands."""


class ProgramExit(Exception):
    """`sys.exit()` and its like."""


class Flow(Enum):
    """How a block of statements ends."""

    NEXT = auto()
    BREAK = auto()
    CONTINUE = auto()
    RETURN = auto()


@dataclass
class Budget:
    """Shared by all readings for one submission. `deadline` is on the monotonic clock, in seconds."""

    deadline: float
    fuel: int = MAX_FUEL

    def spend(self) -> None:
        self.fuel -= 1
        if self.fuel < 0 or (self.fuel % 256 == 0 and time.monotonic() > self.deadline):
            raise OutOfBudget

    def check(self) -> None:
        """Before something that may take long: a file to parse, a command to follow."""
        self.fuel -= 32
        if self.fuel < 0 or time.monotonic() > self.deadline:
            raise OutOfBudget


@dataclass
class Args:
    """Evaluated arguments. `rest` carries the tags of `*x` and `**x` whose parts are not known."""

    positional: list[Value] = field(default_factory=list)
    keywords: dict[str, Value] = field(default_factory=dict)
    rest: Value | None = None
    callee: str = ""
    """The last identifier of what is called, as written."""

    def get(self, name: str, place: int | None = None) -> Value:
        if name in self.keywords:
            return self.keywords[name]
        if place is not None and place < len(self.positional):
            return self.positional[place]
        return UNKNOWN

    def all(self) -> list[Value]:
        return [*self.positional, *self.keywords.values(), *([self.rest] if self.rest else [])]

    def tags(self) -> frozenset[str]:
        return frozenset().union(*(each.all_tags() for each in self.all()))


@dataclass
class Backward:
    """A `backward()` that awaits an optimiser's step."""

    tags: frozenset[str]
    file: str
    line: int
    doubts: tuple[str, ...]
    key: Hashable


@dataclass(frozen=True)
class Place:
    """Where a command stands, the working folder there, and the doubts whether it is reached."""

    file: str
    line: int = 1
    folder: str = ""
    doubts: tuple[str, ...] = ()


CommandRunner = Callable[[str | list[str], dict[str, str], Place], None]
"""Called with a command line, or its words, and the environment."""


class Core(ABC):
    """Shared state. The other parts of the reader are mixed in: expressions, statements, calls, outside."""

    def __init__(self, sources: Sources, store: Store, budget: Budget, run_command: CommandRunner) -> None:
        self.sources = sources
        self.store = store
        self.budget = budget
        self.run_command = run_command
        self.lookup_tags: Callable[[str], frozenset[str] | None] = store.file_tags
        self.lookup_lineage: Callable[[str], tuple[Step, ...] | None] = store.lineage
        self.base_path: str | None = None
        self.modules: dict[str, Scope] = {}
        self.models: dict[str, Obj] = {}
        self.commands: dict[int, list[tuple[str, Function]]] = {}
        self.control: list[frozenset[str]] = []
        self.doubts: list[str] = []
        self.leftover: frozenset[str] | None = None
        self.stack: list[Function] = []
        self.sites: list[int] = []
        self.returns: list[list[Value]] = []
        self.calls: dict[int, int] = {}
        self.results: dict[int, Value] = {}
        self.loops: list[str] = []
        self.exits: list[list[dict[str, Value]]] = []
        """For each running loop the names where `break` or `continue` left it."""
        self.frozen = 0
        self.pending: list[Backward] = []
        self.losses: dict[Hashable, frozenset[str]] = {}
        self.orphans: list[Step] = []
        """Steps of losses whose model is not known."""
        self.has_stepped = False
        self.argv: list[str] | None = None
        self.environment: dict[str, str] = {}
        self.near = ""

    @abstractmethod
    def evaluate(self, node: ast.expr, scope: Scope) -> Value: ...

    @abstractmethod
    def execute(self, body: list[ast.stmt], scope: Scope) -> Flow: ...

    @abstractmethod
    def call(self, callee: Value, args: Args, node: ast.AST, scope: Scope) -> Value: ...

    @abstractmethod
    def call_method(self, receiver: Value, name: str, args: Args, node: ast.AST, scope: Scope) -> Value: ...

    @abstractmethod
    def outer_method(self, receiver: Value, name: str, args: Args, node: ast.AST, scope: Scope) -> Value: ...

    @abstractmethod
    def binary(self, op: ast.operator, left: Value, right: Value) -> Value: ...

    @abstractmethod
    def invoke(self, function: Function, args: Args, owner: Obj | Class | None = None) -> Value: ...

    @abstractmethod
    def instantiate(self, made: Class, args: Args) -> Value: ...

    @abstractmethod
    def external_call(self, name: str, args: Args, node: ast.AST, scope: Scope) -> Value: ...

    @abstractmethod
    def object_call(self, owner: Obj, args: Args, node: ast.AST, scope: Scope) -> Value: ...

    @abstractmethod
    def attribute(self, value: Value, name: str, scope: Scope) -> Value: ...

    @abstractmethod
    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None: ...

    @abstractmethod
    def set_name(self, name: str, value: Value, scope: Scope) -> None: ...

    @abstractmethod
    def import_module(self, dotted: str, scope: Scope, level: int = 0) -> Value: ...

    @abstractmethod
    def run_text(self, text: str, scope: Scope) -> None: ...

    def control_tags(self) -> frozenset[str]:
        return frozenset().union(*self.control)

    def guarded(self, value: Value) -> Value:
        """A model's own text, kept only under a condition on it, is filtered."""
        if self.control and "sampled" in value.all_tags() and self.control_tags() & {"judged", "text"}:
            return value.tagged({"filtered"})
        return value

    def line(self, node: ast.AST) -> int:
        return int(getattr(node, "lineno", 0))

    def place(self, node: ast.AST, scope: Scope) -> Place:
        return Place(scope.path, self.line(node), self.near, tuple(self.doubts))

    def model(self, name: str, tags: set[str] | None = None) -> Obj:
        """A new model object; its tag `m:N` leads from values back to it."""
        made = Obj("model", name=name, tags=set(tags or ()))
        key = f"m:{len(self.models) + 1}"
        self.models[key] = made
        made.attrs["_tag"] = Value(tags=frozenset({key}))
        return made

    def behind(self, tags: frozenset[str]) -> list[Obj]:
        """The models from which a value with these tags was computed."""
        return [self.models[tag] for tag in sorted(tags) if tag.startswith("m:") and tag in self.models]

    def is_reached_as_bound(self, value: Value) -> bool:
        return any(isinstance(ref, Function | Bound | Class) for ref in value.refs)
