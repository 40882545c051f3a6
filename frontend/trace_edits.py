"""Changes to files as agents write them in their tool calls, as lines of a diff."""

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from frontend.formats import plural
from frontend.trace_text import harmless

TOOLS = (
    *("Edit", "MultiEdit", "Write", "NotebookEdit", "str_replace_editor", "str_replace_based_edit_tool", "apply_patch"),
    *("edit", "write", "patch", "replace", "write_file", "file_editor", "edit_file", "create_file", "FileEditorAction"),
)
"""Names of tools whose calls the filter for edits shows."""
MOST_LINES = 150
COMPARED, PAIRS = 2000, 40_000
"""Lines, and pairs of equal lines, of old and new text: longer or more alike ones are shown as removed and added whole.
Comparing takes the pairs times how deep they nest: a few thousand equal lines would take a minute."""


@dataclass(frozen=True)
class Line:
    """`kind`: add, del, hunk, or empty for context. `number` counts within the text that the call names."""

    kind: str
    number: int | None
    text: str


@dataclass(frozen=True)
class Edit:
    """One file's change. `hidden` lines were cut."""

    path: str
    lines: list[Line]
    added: int
    removed: int
    hidden: int

    @property
    def told(self) -> str:
        added, removed = plural(self.added, "line") + " added", f"{self.removed} removed"
        if not self.added:
            return f"{plural(self.removed, 'line')} removed" if self.removed else "nothing changed"
        return f"{added}, {removed}" if self.removed else added


def edits_of(arguments: Any) -> list[Edit]:
    """The edits that a call's arguments describe; empty when they describe none."""
    if isinstance(arguments, str):
        return [_patched(arguments)] if arguments.lstrip().startswith("*** Begin Patch") else []
    if not isinstance(arguments, Mapping):
        return []
    for name in ("patch", "input", "patchText"):
        if str(arguments.get(name) or "").lstrip().startswith("*** Begin Patch"):
            return [_patched(str(arguments[name]))]
    path = _first(arguments, "file_path", "path", "filePath", "filename", "notebook_path")
    if path is None:
        return []
    if isinstance(arguments.get("edits"), list):
        parts = [part for part in arguments["edits"] if isinstance(part, Mapping)]
        return _bounded(list(_several(path, parts)))
    changed = _replacement(path, arguments, most=COMPARED)
    return [changed] if changed else []


def _several(path: str, parts: list[Mapping[str, Any]]) -> Iterator[Edit]:
    """Edits of one call; those that find no room on the page are counted, not compared."""
    room = MOST_LINES
    for part in parts:
        each = _replacement(_first(part, "file_path", "path", "filePath") or path, part, COMPARED if room > 0 else 0)
        if each is not None:
            room -= len(each.lines)
            yield each


def _replacement(path: str, arguments: Mapping[str, Any], most: int) -> Edit | None:
    old = _first(arguments, "old_string", "old_str", "oldString", "old_text")
    new = _first(arguments, "new_string", "new_str", "newString", "new_text", "file_text", "content", "contents")
    return None if new is None and old is None else _changed(path, old or "", new or "", most)


def _bounded(edits: list[Edit]) -> list[Edit]:
    """At most `MOST_LINES` of all together; edits that have no room are counted with the last one shown."""
    shown: list[Edit] = []
    room = MOST_LINES
    for edit in edits:
        lines = edit.lines[:room]
        hidden = edit.hidden + len(edit.lines) - len(lines)
        if lines or not shown:
            shown.append(replace(edit, lines=lines, hidden=hidden))
        else:
            shown[-1] = replace(shown[-1], hidden=shown[-1].hidden + hidden)
        room -= len(lines)
    return shown


def _first(arguments: Mapping[str, Any], *names: str) -> str | None:
    return next((arguments[name] for name in names if isinstance(arguments.get(name), str)), None)


def _changed(path: str, old: str, new: str, most: int) -> Edit:
    return _edit(path, list(_compared(harmless(old).splitlines(), harmless(new).splitlines(), most)))


def _pairs(old: list[str], new: list[str]) -> int:
    times = Counter(old)
    return sum(times[line] for line in new)


def _compared(old: list[str], new: list[str], most: int) -> Iterator[Line]:
    """`most`: lines of both together that are compared."""
    if len(old) + len(new) > most or not old or _pairs(old, new) > PAIRS:
        yield from (Line("del", at, text) for at, text in enumerate(old, 1))
        yield from (Line("add", at, text) for at, text in enumerate(new, 1))
        return
    for tag, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if tag == "equal":
            yield from (Line("", new_from + at, text) for at, text in enumerate(old[old_from:old_to], 1))
            continue
        yield from (Line("del", old_from + at, text) for at, text in enumerate(old[old_from:old_to], 1))
        yield from (Line("add", new_from + at, text) for at, text in enumerate(new[new_from:new_to], 1))


def _patched(patch: str) -> Edit:
    """A patch in Codex's own format."""
    lines = harmless(patch).strip().splitlines()
    paths = [line.partition(": ")[2] for line in lines if line.startswith("*** ") and ": " in line]
    kinds = {"+": "add", "-": "del", "@": "hunk", "*": "hunk"}
    shown = [
        Line(kind, None, line if kind == "hunk" else line[1:])
        for line in lines
        if line not in ("*** Begin Patch", "*** End Patch") and (kind := kinds.get(line[:1], "")) is not None
    ]
    return _edit(", ".join(paths), shown)


def _edit(path: str, lines: list[Line]) -> Edit:
    added, removed = (sum(line.kind == kind for line in lines) for kind in ("add", "del"))
    return Edit(harmless(path), lines[:MOST_LINES], added, removed, max(0, len(lines) - MOST_LINES))
