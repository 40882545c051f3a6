"""How `--dist loadfile` spreads tests over processes: what shares a platform stays together, the longest first."""

TOGETHER = ("tests/journeys/agent_clis/",)
"""Folders with one platform, and one place where programs are installed: as if each were a file."""
LONGEST = (
    "tests/journeys/agent_clis/",
    "tests/journeys/test_real_grading.py",
    "tests/journeys/runner/test_vllm.py",
    "tests/journeys/test_main_job.py",
    "tests/journeys/test_kill_loop.py",
    "tests/unit/tasks/alfworld/test_real_games.py",
    "tests/browser/test_every_page.py",
)
"""Begun in this order, so that no process is left alone with one of them at the end."""


def group_of(nodeid: str) -> str:
    """What runs in one process: the test's file or, where that is among TOGETHER, its folder."""
    path = nodeid.split("::", 1)[0]
    return next((folder for folder in TOGETHER if path.startswith(folder)), path)


def place_of(nodeid: str) -> int:
    """Tests with a lower one begin earlier."""
    group = group_of(nodeid)
    return LONGEST.index(group) if group in LONGEST else len(LONGEST)
