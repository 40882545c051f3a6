"""A Jupyter notebook as one Python module: code cells in order, magics and shell lines taken out."""

import ast
import json
import re
import warnings
from typing import Any

CELL_MAGICS_OF_PYTHON = ("time", "timeit", "capture", "prun", "python3", "python")
CAPTURED = re.compile(r"^([A-Za-z_]\w*)\s*=\s*!(.*)$")


def notebook_python(text: str) -> tuple[str, list[int]]:
    """The notebook's Python, and the numbers, from 1, of the cells that do not parse: those fail alone.

    `!command` and `%run script` become `os.system`, so that what they launch is seen.

    Raises: ValueError when it is no notebook.
    """
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    cells = parsed.get("cells") if isinstance(parsed, dict) else None
    if not isinstance(cells, list):
        raise ValueError("a notebook without cells")
    made, broken = ["import os as _shell"], []
    for number, each in enumerate(cells, start=1):
        cell = _cell(each) if isinstance(each, dict) else ""
        if _parses(cell):
            made.append(cell)
        else:
            broken.append(number)
    return "\n".join(made), broken


def _parses(cell: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(cell)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _cell(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    if cell.get("cell_type") != "code":
        return ""
    lines = "".join(str(part) for part in source).splitlines() if isinstance(source, list) else str(source).splitlines()
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%"):
        magic, _, rest = first[2:].partition(" ")
        if magic in ("bash", "sh", "script"):
            return f"_shell.system({chr(10).join(lines[1:])!r})"
        if magic == "writefile" or magic not in CELL_MAGICS_OF_PYTHON:
            return ""
        lines = lines[1:] if not rest else lines[lines.index(next(line for line in lines if line.strip())) + 1 :]
    return "\n".join(_joined(lines))


def _joined(lines: list[str]) -> list[str]:
    out = []
    for line in lines:
        bare = line.lstrip()
        indent = line[: len(line) - len(bare)]
        if bare.startswith("!"):
            out.append(f"{indent}_shell.system({bare[1:]!r})")
        elif bare.startswith("%run "):
            out.append(f"{indent}_shell.system({'python ' + bare[5:]!r})")
        elif (match := CAPTURED.match(bare)) is not None:
            out.append(f"{indent}{match.group(1)} = _shell.system({match.group(2)!r})")
        elif bare.startswith(("%", "?")) or bare.rstrip().endswith("?"):
            out.append(f"{indent}pass")
        else:
            out.append(line)
    return out
