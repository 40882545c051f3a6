"""What is known of all 164 problems, with the real tests and real candidates."""

import time
from collections.abc import Callable

import pytest

from benchmark.tasks.humaneval.court import Court

Row = dict[str, str]

EVERY, SOME = slice(None), slice(3, None, 8)
ANSWERS: dict[str, tuple[Callable[[Row], str], bool, bool, slice]] = {
    # how a solution is written down: passes here, passes under the reference's rule, of which problems
    "body": (lambda row: row["canonical_solution"], True, False, EVERY),
    "body, stripped": (lambda row: row["canonical_solution"].strip(), True, False, SOME),
    "whole": (lambda row: row["prompt"] + row["canonical_solution"], True, True, SOME),
    "fence": (lambda row: f"```python\n{row['prompt']}{row['canonical_solution']}\n```", True, True, EVERY),
    "open fence": (lambda row: f"```python\n{row['prompt']}{row['canonical_solution']}", True, False, SOME),
    "body in a fence": (lambda row: f"```python\n{row['canonical_solution']}\n```", True, False, SOME),
    "example first": (
        lambda row: f"```python\nhelp()\n```\n```python\n{row['prompt']}{row['canonical_solution']}\n```",
        True,
        False,
        SOME,
    ),
    "pass": (lambda row: "    pass\n", False, False, EVERY),
}


@pytest.mark.parametrize(("write", "here", "reference", "which"), ANSWERS.values(), ids=ANSWERS.keys())
def test_all_problems(
    court: Court, problems: list[Row], write: Callable[[Row], str], here: bool, reference: bool, which: slice
) -> None:
    outcomes = {row["task_id"]: court.outcome(row, write(row)) for row in problems[which]}
    assert {task: found.kind for task, found in outcomes.items() if (found.kind == "passed") != here} == {}
    assert [task for task, found in outcomes.items() if found.reference_passed != reference] == []


def test_held_out_solutions_take_seconds(court: Court, problems: list[Row]) -> None:
    """Ten seconds is the aim on two idle cores. Two seconds each are far more than others at work can cost."""
    began = time.monotonic()
    assert all(court.outcome(row, row["prompt"] + row["canonical_solution"]).kind == "passed" for row in problems[82:])
    assert time.monotonic() - began < 160


CHEATS = {
    "equal to everything": """
class Always:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __lt__ = __gt__ = __le__ = __ge__ = __eq__
    def __sub__(self, other): return self
    __rsub__ = __add__ = __abs__ = __float__ = __call__ = __getitem__ = __sub__
    def __bool__(self): return True
    def __getattr__(self, name): return self

def NAME(*args): return Always()
""",
    "appends to the list of results": """
import gc, sys

def NAME(*args):
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if type(value) is list:
                value.append("passed")
        frame = frame.f_back
    for value in gc.get_objects():
        if type(value) is list and not value:
            value.append("passed")
""",
    "exits": """
import sys

sys.exit(0)

def NAME(*args): return 0
""",
}


@pytest.mark.parametrize("cheat", CHEATS.values(), ids=CHEATS.keys())
def test_published_cheats_pass_nothing(court: Court, problems: list[Row], cheat: str) -> None:
    outcomes = {row["task_id"]: court.outcome(row, cheat.replace("NAME", row["entry_point"])) for row in problems[82:]}
    assert [task for task, found in outcomes.items() if found.kind == "passed" or found.reference_passed] == []
