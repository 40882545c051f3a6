"""Code that is broken or means harm: never run, never an exception, always in time."""

import os
import time
from pathlib import Path

import pytest

from tests.support.waiting import LONG_S
from traces.methods import Method, label_submission
from traces.methods.sources import MAX_FILE_BYTES

SFT = "from trl import SFTTrainer\nSFTTrainer('m').train()\n"
LIMIT_S = 2.0
SLACK_S = 3.0
"""Of processor time, which a loaded machine does not stretch."""


def doubling(lines: int) -> str:
    functions = "".join(f"def f{i}(x):\n  return f{i + 1}(x) + f{i + 1}(x)\n" for i in range(lines))
    return f"{functions}def f{lines}(x):\n  return x\nf0(1)\n"


PROGRAMS = {
    "parentheses": "x = " + "(" * 50_000 + ")" * 50_000,
    "signs": "x = " + "-" * 100_000 + "1",
    "attributes": "x = a" + ".b" * 50_000,
    "sums": "x = " + "+".join(["1"] * 50_000),
    "lists": "x = " + "[" * 190 + "]" * 190,
    "digits": "x = " + "9" * 50_000,
    "powers": "x = 10**10**10**10\ny = 'a' * 10**9\nz = [0] * 10**9\nfor i in range(10**12): pass\n",
    "text that doubles": "x = 'ab'\n" + "x = x + x\n" * 2_000,
    "lists that double": "x = [1]\n" + "x = [*x, *x]\nx = x + x\n" * 500,
    "mutual recursion": "def f(n):\n  return g(n) + g(n)\ndef g(n):\n  return f(n) + f(n)\nf(3)\n",
    "calls that double": doubling(60),
    "loops in loops": "".join(" " * i + "for a in [1,2,3,4,5,6,7,8,9]:\n" for i in range(18)) + " " * 18 + "x = 1\n",
    "many branches": "if a: x = 1\n" * 5_000,
    "a class that is its own base": "class A(B): pass\nclass B(A): pass\nfor i in y:\n  class A(A): pass\nA().z\n",
    "imports itself": "import train\nfrom train import *\n",
    "starts itself": "import os\nos.system('python train.py && python train.py')\n",
    "NUL": "x = 1\0",
    "no UTF-8": "# \udcff\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hostile_program_does_not_hide_its_neighbour(name: str) -> None:
    files = {
        "train.py": PROGRAMS[name].encode(errors="surrogateescape"),
        "sft.py": SFT.encode(),
    }
    start = time.process_time()
    report = label_submission(files, commands=["python sft.py", "python train.py"], time_limit_s=LIMIT_S)
    assert time.process_time() - start < LIMIT_S + SLACK_S
    assert report.methods == (Method.SFT,)


SCRIPTS = {
    "starts itself": "bash a.sh\nsource a.sh\n" * 50,
    "a function that calls itself": "f() { f; f; }\nf\n",
    "open branches": "if x; then\n" * 2_000,
    "open parentheses": "(" * 3_000,
    "an open quote": "echo '" + "a" * 50_000,
    "open substitutions": "x=" + "$(" * 20_000,
    "open here-documents": "cat <<A\n" * 2_000,
    "a variable that doubles": "a=xxxx\n" + "a=$a$a\n" * 200 + "python $a\n",
    "an open case": "case x in",
    "an open for": "for",
    "NUL": "\0",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_hostile_shell_script_ends(name: str) -> None:
    start = time.process_time()
    report = label_submission(
        {"a.sh": SCRIPTS[name].encode(), "sft.py": SFT.encode()},
        commands=["bash a.sh; python sft.py"],
        time_limit_s=LONG_S,
    )
    assert time.process_time() - start < LIMIT_S + SLACK_S
    assert report.methods == (Method.SFT,)


def test_a_configuration_that_nests_or_multiplies_itself() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n"
    bomb += "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12))
    for text in (bomb, "[" * 20_000):
        code = "import yaml\nc = yaml.safe_load(open('c.yaml'))\n" + SFT
        files = {"t.py": code.encode(), "c.yaml": text.encode()}
        assert label_submission(files, commands=["python t.py", "axolotl train c.yaml"]).primary is Method.SFT


def test_a_configuration_that_cannot_be_read_is_a_doubt() -> None:
    report = label_submission({"c.yaml": b"[" * 20_000}, commands=["axolotl train c.yaml"])
    assert "c.yaml could not be read" in report.findings[0].doubts[0]


def test_broken_files_are_reported_with_their_line() -> None:
    report = label_submission({"old.py": b"import x\nprint 'train'\n"}, commands=["python old.py"])
    assert report.methods == ()
    assert [(note.file, note.line) for note in report.notes] == [("old.py", 2)]
    assert "could not be parsed" in report.notes[0].why


def test_files_above_the_limit_are_counted_not_read() -> None:
    report = label_submission({"big.py": b"x = 1\n" * MAX_FILE_BYTES, "sft.py": SFT.encode()})
    assert (report.files_read, report.files_seen) == (1, 2)
    assert any(note.why == "1 of 2 files read" for note in report.notes)
    assert report.methods == (Method.SFT,)


def test_a_thousand_files_in_time() -> None:
    body = b"import torch\n" + b"def f(a, b):\n    return a + b\n" * 60 + b"model.train()\n"
    files = {f"p/f{i}.py": body for i in range(1_000)}
    start = time.process_time()
    report = label_submission(files, time_limit_s=LIMIT_S)
    assert time.process_time() - start < LIMIT_S + SLACK_S
    assert report.files_read == 1_000


def test_out_of_time_is_said() -> None:
    report = label_submission({"sft.py": SFT.encode()}, time_limit_s=0.0)
    assert any("time limit" in note.why for note in report.notes)


def test_nothing_is_executed(tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    code = f"import os, subprocess, pathlib\npathlib.Path({str(trap)!r}).write_text('x')\nos.system('touch {trap}')\n"
    label_submission({"a.py": code.encode(), "b.sh": f"touch {trap}\n".encode()}, commands=["python a.py; bash b.sh"])
    assert not trap.exists()


def test_links_out_of_the_folder_and_special_files_are_not_read(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside.py", tmp_path / "code"
    outside.write_text(SFT)
    folder.mkdir()
    (folder / "link.py").symlink_to(outside)
    (folder / "loop.py").symlink_to(folder / "loop.py")
    (folder / "up").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.py")
    report = label_submission(folder)
    assert report.methods == ()
    assert {note.file for note in report.notes} >= {"link.py", "loop.py", "pipe.py"}


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match="not a folder of code"):
        label_submission(tmp_path / "nowhere")
