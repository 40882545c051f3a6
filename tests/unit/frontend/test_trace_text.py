import time
from typing import Any

import pytest

from frontend.trace_edits import edits_of
from frontend.trace_rows import gist_of
from frontend.trace_text import harmless, one_line, size, spans


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m\x07\x00", "red"),
        ("a\u202eb\u2066c", "a[U+202E]b[U+2066]c"),
        ("\U000e0041hidden", "[U+E0041]hidden"),
        ("👩\u200d👩 é e\u0301 العربية", "👩\u200d👩 é e\u0301 العربية"),
        ("half \ud83d", "half \ufffd"),
        ("A" * 5000, "[base64, 5,000 characters]"),
        ("see " + "QUJD" * 200 + "== end", "see [base64, 802 characters] end"),
        ("a" * 399, "a" * 399),
        ("word " * 200, "word " * 200),
    ],
)
def test_text_is_made_harmless_and_nothing_else_is_touched(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_one_line_says_where_it_is_cut() -> None:
    assert one_line("a\n\tb", 10) == "a b"
    assert one_line("x " * 50, 10) == "x x x x x…"
    assert one_line("", 10) == ""


def test_coloured_pieces_are_bounded_at_a_line_and_none_is_lost() -> None:
    text = "".join(f"\x1b[3{number % 8}m{number}\x1b[0m -\n" for number in range(400))
    shown, at = "", 0
    while at < len(text):
        found, used = spans(text[at:], 60)
        assert 0 < len(found) <= 60
        assert used > 0
        shown += "".join(part for _, part in found)
        at += used
    assert shown == "".join(f"{number} -\n" for number in range(400))


def test_one_line_with_more_colours_than_allowed_loses_the_colours_not_the_text() -> None:
    text = "".join(f"\x1b[3{number % 8}m{number} " for number in range(200))
    found, used = spans(text, 60)
    assert ("".join(part for _, part in found), used) == ("".join(f"{number} " for number in range(200)), len(text))


def test_sizes() -> None:
    assert [size(n) for n in (0, 999, 38_000, 5_000_000)] == ["0 bytes", "999 bytes", "38 kB", "5.0 MB"]


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@ def f\n same\n-old\n+new\n+more\n*** End Patch"


@pytest.mark.parametrize(
    ("arguments", "path", "changed"),
    [
        ({"file_path": "a.py", "old_string": "x\ny", "new_string": "x\nz"}, "a.py", (1, 1)),
        ({"path": "a.py", "command": "str_replace", "old_str": "x", "new_str": ""}, "a.py", (0, 1)),
        ({"filePath": "a.py", "oldString": "x", "newString": "x\ny"}, "a.py", (1, 0)),
        ({"file_path": "a.py", "content": "one\ntwo\n"}, "a.py", (2, 0)),
        ({"path": "a.py", "command": "create", "file_text": "one"}, "a.py", (1, 0)),
        ({"input": PATCH}, "a.py", (2, 1)),
        (PATCH, "a.py", (2, 1)),
    ],
)
def test_the_edits_of_every_agent_become_a_diff(arguments: object, path: str, changed: tuple[int, int]) -> None:
    (edit,) = edits_of(arguments)
    assert (edit.path, (edit.added, edit.removed)) == (path, changed)


def test_several_edits_of_one_call_are_several_diffs() -> None:
    edits = edits_of(
        {"file_path": "a", "edits": [{"old_string": "1", "new_string": "2"}, {"old_string": "3", "new_string": "4"}]}
    )
    assert [[line.text for line in edit.lines] for edit in edits] == [["1", "2"], ["3", "4"]]


@pytest.mark.parametrize(
    "arguments", [None, 3, [], {}, {"command": "ls"}, {"path": "a.py"}, {"path": 3, "content": "x"}, "ls"]
)
def test_what_is_no_edit_is_none(arguments: object) -> None:
    assert edits_of(arguments) == []


def test_many_edits_share_the_room_of_one() -> None:
    edits = edits_of({"file_path": "a", "edits": [{"old_string": "x\n" * 40, "new_string": "y\n" * 20}] * 30})
    assert sum(len(edit.lines) for edit in edits) == 150
    assert sum(len(edit.lines) + edit.hidden for edit in edits) == 30 * 60


def test_a_huge_edit_is_cut_and_counted() -> None:
    (edit,) = edits_of({"path": "a", "content": "line\n" * 9000})
    assert (len(edit.lines), edit.hidden, edit.added) == (150, 8850, 9000)


@pytest.mark.parametrize(
    ("arguments", "gist"),
    [
        ({"description": "why", "command": "ls  -l\n"}, "ls -l"),
        ({"command": ["bash", "-lc", "ls"]}, "bash -lc ls"),
        ({"other": "x"}, ""),
        ("free text", "free text"),
        (None, ""),
    ],
)
def test_the_gist_of_a_call_is_its_most_telling_argument(arguments: object, gist: str) -> None:
    assert gist_of(arguments) == gist


@pytest.mark.parametrize(
    "arguments",
    [
        {"old_string": "a\n" * 999, "new_string": "a\nb\n" * 500},
        {"edits": [{"old_string": "a\n" * 300, "new_string": "a\nb\n" * 150}] * 40},
        {"edits": [{"old_string": "a\n" * 200, "new_string": "a\nb\n" * 90}] * 40},
    ],
)
def test_texts_of_many_equal_lines_take_no_time(arguments: dict[str, Any]) -> None:
    began = time.process_time()
    found = edits_of({"path": "x", **arguments})
    assert time.process_time() - began < 1
    changed = sum(len(edit.lines) + edit.hidden for edit in found)
    parts = arguments.get("edits", [arguments])
    assert changed >= sum(part["old_string"].count("\n") for part in parts)


def test_edits_within_edits_are_not_followed() -> None:
    deep: dict[str, Any] = {"path": "x", "old_string": "a", "new_string": "b"}
    for _ in range(100):
        deep = {"path": "x", "edits": [deep]}
    assert edits_of(deep) == []
