"""A Jupyter notebook as one Python module: code cells in order, magics and shell lines taken out."""

import json
from typing import Any

CELL_MAGICS_OF_PYTHON = ("time", "timeit", "capture", "prun", "python3", "python")


def notebook_python(text: str) -> str:
    """The notebook's Python. `!command` and `%run script` become `os.system`, so that what they launch is seen.

    Raises: ValueError when it is no notebook.
    """
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    cells = parsed.get("cells") if isinstance(parsed, dict) else None
    if not isinstance(cells, list):
        raise ValueError("a notebook without cells")
    return "\n".join(["import os as _shell", *(_cell(each) for each in cells if isinstance(each, dict))])


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
        elif bare.startswith("%"):
            out.append(f"{indent}pass")
        else:
            out.append(line)
    return out
