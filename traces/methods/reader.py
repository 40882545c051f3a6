"""The reader put together: one program, from its first line, as if it ran."""

from traces.methods import builtin_calls, file_calls, model_calls, training_calls
from traces.methods.assignments import Assignments
from traces.methods.calls import Calls
from traces.methods.core import ProgramExit
from traces.methods.expressions import Expressions
from traces.methods.modules import Modules
from traces.methods.outside import Outside
from traces.methods.statements import Statements
from traces.methods.training_calls import leave_pending
from traces.methods.values import Scope, const

TABLES = (builtin_calls, file_calls, model_calls, training_calls)
"""Importing them fills the tables of known functions."""


class Reader(Expressions, Assignments, Statements, Calls, Modules, Outside):
    """Reads programs; state of modules and models is fresh for each, files and steps are shared by the store."""

    def run_program(self, path: str, argv: list[str] | None, environment: dict[str, str], near: str) -> None:
        """Read the file `path` as a program. `argv` None: its command line is not known."""
        self.argv, self.environment, self.near = argv, environment, near
        scope = Scope(path, names={"__name__": const("__main__"), "__file__": const(path)})
        self.modules[path] = scope
        try:
            self.run_text(self.sources.texts[path], scope)
        except ProgramExit:
            pass
        except RecursionError:
            self.store.note(path, None, "nested too deeply; read only in part")
        leave_pending(self)
