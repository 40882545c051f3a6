"""A real program within what its run allows: a budget of tokens, resumes, a key that is missing."""

from pathlib import Path

import pytest

from tests.journeys.agent_clis.conftest import Clis
from tests.support.scripted_provider import Fault, Script, Turn

pytestmark = [pytest.mark.bubblewrap, pytest.mark.slow, pytest.mark.timeout(900)]
LOOK = Turn("ls", "Look.")


def started(clis: Clis, base: Path, *options: str) -> str:
    clis.install("claude-code")
    told = clis.platform.manage(
        *("run", "--agent", "claude-code", "--task", "arithmetic", "--base-model", str(base)),
        *("--budget", "600s", "--detach", *options),
    )
    return told.strip().rstrip("/").rsplit("/", 1)[1]


def test_a_used_up_budget_of_tokens_ends_the_run_as_such(clis: Clis, base: Path) -> None:
    clis.provider.play(Script([LOOK] * 40))
    run = clis.platform.ended(started(clis, base, "--tokens", "500"), 600)
    assert (run["state"], run["fault_code"]) == ("timed_out", "tokens_used_up")


def test_an_agent_is_resumed_as_often_as_its_run_allows(clis: Clis, base: Path) -> None:
    """First after an answer that broke off, with which Claude Code ends."""
    clis.provider.play(Script([LOOK], faults=[Fault(1, 0, 1, share=0.7)]))
    slug = started(clis, base, "--resumes", "2")
    assert clis.platform.ended(slug, 600)["state"] == "finished"
    steps = [each["data"] for each in clis.platform.get(slug, "events/") if each["kind"] == "run.step"]
    assert [each["resumed"] for each in steps if "resumed" in each] == [1, 2]
    log = (clis.platform.data / "runs" / slug / "agent.log").read_text()
    assert log.count('"subtype":"init"') == 3
    assert log.count("Connection closed mid-response") >= 1


def test_an_agent_without_its_key_does_not_start(clis: Clis, base: Path) -> None:
    clis.install("opencode")
    slug = clis.platform.run(base, "compatible/some-model", agent="opencode")
    run = clis.platform.ended(slug)
    assert (run["state"], run["fault_code"]) == ("failed", "agent_unavailable")
    assert "AGENT2_COMPATIBLE_KEY" in run["fault_detail"]
