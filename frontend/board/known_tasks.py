"""The tasks a board has columns for, and their order."""

from benchmark.catalogue import tasks
from frontend.published import designs

LEVELS = ("L1", "L2", "L3")
SHARES = {
    "gsm8k": "maths, % right",
    "humaneval": "code, % passed",
    "alpacaeval": "judged win rate",
    "alfworld": "household, % won",
    "webshop": "shopping, % won",
    "deepsearchqa": "search, % right",
}
LEVEL_WORDS = {"L1": "rule-based, one answer", "L2": "judged", "L3": "interactive, many steps"}


def known_tasks() -> list[str]:
    """The benchmark's own six in their order, then the others that are installed."""
    six = list(designs())
    return six + sorted(set(tasks()) - set(six))


def level_of(task: str) -> str:
    """`L1`, `L2`, `L3`; empty for a task that is not known any more."""
    if found := tasks().get(task):
        return found.level
    return designs()[task].level if task in designs() else ""


def task_title(task: str) -> str:
    found = tasks().get(task)
    return found.title if found else task


def task_metric(task: str) -> str:
    """What its score is a share of, in a few words."""
    found = tasks().get(task)
    return SHARES.get(task) or (found.metric.lower() if found else "")


def task_place(task: str) -> tuple[str, int, str]:
    """For sorting columns: by level, the six first, then by title."""
    six = list(designs())
    return level_of(task) or "L9", six.index(task) if task in six else len(six), task_title(task)


def is_known(task: str) -> bool:
    """Whether it is installed, or one of the six."""
    return task in tasks() or task in designs()
