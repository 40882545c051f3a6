"""Notebooks become one module in cell order."""

import json

import pytest

from traces.methods.notebooks import notebook_python


def converted(*cells: str | list[str], kind: str = "code") -> tuple[str, list[int]]:
    return notebook_python(json.dumps({"cells": [{"cell_type": kind, "source": each} for each in cells]}))


def test_cells_keep_their_order_and_magics_go() -> None:
    text, broken = converted(["%load_ext x\n", "a = 1\n"], "%%time\nb = a\n", "for i in c:\n    %timeit i\n")
    assert broken == []
    assert [line for line in text.splitlines() if line.strip()] == [
        "import os as _shell", "pass", "a = 1", "b = a", "for i in c:", "    pass",
    ]  # fmt: skip


def test_shell_lines_become_commands() -> None:
    text, _ = converted("!python a.py\n%run b.py --x\nout = !ls\n", "%%bash\npython c.py\n")
    for command in ("'python a.py'", "'python b.py --x'", "'python c.py'"):
        assert f"_shell.system({command}" in text
    assert "out = _shell.system('ls')" in text


def test_a_broken_cell_fails_alone_and_help_is_no_error() -> None:
    text, broken = converted("x = 1", "def f(:", "x?\n?x\ny = 2")
    assert broken == [2]
    assert "y = 2" in text


def test_other_cells_and_foreign_magics_are_left_out() -> None:
    assert "train" not in converted("model.train()", kind="markdown")[0]
    assert "train" not in converted("%%html\n<b>train</b>", "%%writefile x.py\ntrain()")[0]


@pytest.mark.parametrize("text", ["", "[]", '{"cells": 3}', "{" * 10_000])
def test_no_notebook(text: str) -> None:
    with pytest.raises(ValueError, match=r"not JSON|without cells"):
        notebook_python(text)
