"""The build step: the packer's modules as one file that needs nothing but Python 3.9 or newer.

    python -m bundles.packer.join agent2_pack.py

Every module becomes a part of the file, in the order of their imports; imports of each other go away, so no two of them
may define the same name.
"""

import ast
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START = "bundles.packer.cli"
ROOMS = ("bundles.", "benchmark.secret_shapes")
HEAD = '''#!/usr/bin/env python3
"""Agent² RL-Bench: packs a run, checks it with the platform's own rules, and sends it. `--help` says how.

One file, Python 3.9 or newer, standard library only. Made from the platform's modules by `bundles/packer/join.py`;
licence: MIT.
"""
'''


class CannotJoin(Exception):
    """Two modules define one name, or import in a way that cannot be taken away."""


@cache
def packer_source() -> str:
    """The file's text. Raises: CannotJoin."""
    modules: dict[str, ast.Module] = {}
    _collect(START, modules)
    names: dict[str, str] = {}
    imports: set[str] = set()
    parts = []
    for module, tree in modules.items():
        for name in _defined(tree):
            if name != "__all__" and names.setdefault(name, module) != module:
                raise CannotJoin(f"{name} is defined in {names[name]} and in {module}")
        parts.append(_part(module, tree, imports))
    future = "from __future__ import annotations"
    return "\n".join([HEAD, future, "", *sorted(imports - {future}), *parts])


def _path(module: str) -> Path:
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


def _collect(module: str, modules: dict[str, ast.Module]) -> None:
    """The modules that `module` imports before itself."""
    if module in modules:
        return
    tree = ast.parse(_path(module).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _is_ours(node):
            if any(each.asname for each in node.names) or node not in tree.body:
                raise CannotJoin(f"{module}, line {node.lineno}: import names as they are, at the top")
            _collect(str(node.module), modules)
        elif isinstance(node, ast.Import) and any(each.name.startswith(ROOMS) for each in node.names):
            raise CannotJoin(f"{module}, line {node.lineno}: import names from modules, not modules")
    modules[module] = tree


def _is_ours(node: ast.ImportFrom) -> bool:
    return bool(node.module) and str(node.module).startswith(ROOMS)


def _defined(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        found |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    return found


def _part(module: str, tree: ast.Module, imports: set[str]) -> str:
    """The module's own lines. Its docstring becomes a comment, its imports go to the top."""
    source = _path(module).read_text(encoding="utf-8")
    lines: list[str | None] = list(source.splitlines())
    for at, node in enumerate(tree.body):
        is_docstring = at == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (is_docstring or isinstance(node, ast.Import | ast.ImportFrom)):
            continue
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and not _is_ours(node)):
            imports.update(_single(node))
        for line in range(node.lineno - 1, node.end_lineno or node.lineno):
            lines[line] = None
    is_start = module == START
    kept = [line for line in lines if line is not None]
    comment = [f"# {line}".rstrip() for line in (ast.get_docstring(tree) or "").splitlines()]
    told = [] if is_start else comment
    described = [f"__doc__ = {ast.get_docstring(tree)!r}"] if is_start else []
    return "\n".join(["", "", f"# --- {module.replace('.', '/')}.py", *told, *described, *kept])


def _single(node: ast.Import | ast.ImportFrom) -> list[str]:
    """One name an import, so that those of several modules are one list."""
    if isinstance(node, ast.Import):
        return [ast.unparse(ast.Import([each])) for each in node.names]
    return [ast.unparse(ast.ImportFrom(node.module, [each], 0)) for each in node.names]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(packer_source(), encoding="utf-8")
