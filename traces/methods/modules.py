"""Modules: finding the folder's own, parsing them, running each once."""

import ast
import posixpath
import warnings

from traces.methods.core import Core
from traces.methods.values import External, Scope, Value, const

MAX_INLINE = 64 * 1024


class Modules(Core):
    """Import by the folder's layout; what is not there is `External`."""

    def import_module(self, dotted: str, scope: Scope, level: int = 0) -> Value:
        if level:
            folder = scope.path
            for _ in range(level):
                folder = posixpath.dirname(folder)
            path = posixpath.join(folder, *dotted.split(".")) if dotted else folder
            found = self._module_file(path, exact=True)
        else:
            found = self._module_file(dotted.replace(".", "/"), near=posixpath.dirname(scope.path))
        if found is None:
            return Value((External(dotted),))
        return Value((self.module_scope(found),))

    def _module_file(self, path: str, *, near: str = "", exact: bool = False) -> str | None:
        for name in (f"{path}.py", f"{path}/__init__.py"):
            for folder in ("",) if exact else dict.fromkeys((near, posixpath.dirname(near), self.near, "")):
                full = posixpath.normpath(posixpath.join(folder, name))
                if full in self.sources.texts:
                    return full
        if exact:
            return None
        # A folder may be put on the path by hand; its own name then leads to the file.
        found = self.sources.find(f"{path}.py")
        return found if found is not None and found.endswith("/" + posixpath.basename(path) + ".py") else None

    def module_scope(self, path: str) -> Scope:
        """The names of an imported module; a circular import sees what is there so far."""
        if path not in self.modules:
            self.modules[path] = scope = Scope(path, names={"__name__": const(_dotted(path)), "__file__": const(path)})
            self.run_text(self.sources.texts[path], scope)
        return self.modules[path]

    def run_text(self, text: str, scope: Scope) -> None:
        """Read a module's statements. What cannot be parsed becomes a note."""
        tree = self._parse(text, scope.path)
        if tree is None:
            return
        saved = self.control, self.returns
        self.control, self.returns = [], []
        try:
            self.execute(tree.body, scope)
        except RecursionError:
            self.store.note(scope.path, None, "nested too deeply; read only in part")
        finally:
            self.control, self.returns = saved
            self.leftover = None

    def _parse(self, text: str, path: str) -> ast.Module | None:
        self.budget.check()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(text)
        except SyntaxError as error:
            self.store.note(path, error.lineno, f"could not be parsed: {error.msg}")
        except (ValueError, RecursionError, MemoryError) as error:
            self.store.note(path, None, f"could not be parsed: {error or type(error).__name__}")
        return None


def _dotted(path: str) -> str:
    name = path.removesuffix(".py").removesuffix("/__init__")
    return name.replace("/", ".")
