"""A real program in a run of two tasks: it finds each task's address and submits to both."""

from pathlib import Path

import pytest

from tests.journeys.agent_clis.conftest import Clis
from tests.support.scripted_provider import Script, Turn

pytestmark = [pytest.mark.bubblewrap, pytest.mark.slow, pytest.mark.timeout(1500)]
SUBMIT = """curl -sS -X POST "$GRADING_SERVER_URL_{task}/submit" -H "Content-Type: application/json" \
-d '{{"model_path": "output/first"}}'"""


def test_two_tasks_have_a_submission_each(clis: Clis, base: Path) -> None:
    clis.install("codex")
    turns = [
        Turn("cat instructions.md; env | grep GRADING_SERVER_URL_", "Two tasks."),
        Turn(f"cp -rL models/{base.name} output/first", "The base model is where I begin."),
        Turn(SUBMIT.format(task="ARITHMETIC")),
        Turn(SUBMIT.format(task="SMITH_CAPITALS")),
    ]
    clis.provider.play(Script(turns))
    told = clis.platform.manage(
        *("run", "--agent", "codex", "--driver", "gpt-5.5", "--mode", "multi", "--base-model", str(base)),
        *("--task", "arithmetic", "--task", "smith-capitals", "--budget", "600s", "--detach"),
    )
    slug = told.strip().rstrip("/").rsplit("/", 1)[1]
    run = clis.platform.ended(slug)
    log = (clis.platform.data / "runs" / slug / "agent.log").read_text(errors="replace")
    assert (run["state"], run["fault_code"]) == ("finished", ""), log[-3000:]
    found = [(row["task"], row["state"]) for row in clis.platform.submissions(slug)]
    assert found == [("arithmetic", "graded"), ("smith-capitals", "graded")], log[-3000:]
    said = (clis.platform.data / "runs" / slug / "workspace" / "instructions.md").read_text()
    assert "arithmetic" in said
    assert "smith-capitals" in said
