"""A provider that fails: the agent's own retry, or a typed fault; never a run that hangs."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.agent_clis.conftest import Clis
from tests.support.scripted_provider import Fault, Script, Turn

pytestmark = [pytest.mark.bubblewrap, pytest.mark.slow, pytest.mark.timeout(900)]
LOOK = Turn("ls", "Look.")
TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"
CLAUDE, CODEX = ("claude-code", "claude-opus-4-6"), ("codex", "gpt-5.5")
GEMINI, OPENHANDS = ("gemini-cli", "gemini-2.5-pro"), ("openhands", "openai/gpt-5.5")
SLOWLY = {"retry-after": "1"}
SLOW = pytest.mark.skipif(
    not os.environ.get("AGENT2_TEST_ALL_FAILURES"), reason="it tries again for a minute: AGENT2_TEST_ALL_FAILURES=1"
)


def driven(clis: Clis, base: Path, agent: str, driver: str, *faults: Fault) -> tuple[dict[str, Any], str]:
    """The run once it has ended, and what its agent printed."""
    clis.install(agent)
    clis.provider.script = Script([LOOK, Turn("cat description.md | head -3")], faults=faults)
    slug = clis.platform.run(base, driver, agent=agent)
    run = clis.platform.ended(slug, 600)
    return run, (clis.platform.data / "runs" / slug / "agent.log").read_text(errors="replace")[-3000:]


@pytest.mark.parametrize(
    ("stack", "fault"),
    [
        (CLAUDE, Fault(1, 500, 2)),
        (CLAUDE, Fault(1, 429, 2, headers=SLOWLY)),
        (CLAUDE, Fault(1, 0, 1)),
        (CODEX, Fault(1, 500, 2)),
        (CODEX, Fault(1, 0, 1)),
    ],
    ids=["claude 500", "claude 429", "claude cut", "codex 500", "codex cut"],
)
def test_a_passing_failure_is_the_agents_own_to_retry(
    clis: Clis, base: Path, stack: tuple[str, str], fault: Fault
) -> None:
    run, log = driven(clis, base, *stack, fault)
    assert (run["state"], run["fault_code"]) == ("finished", ""), log


@pytest.mark.parametrize(
    ("stack", "fault", "code"),
    [
        (CLAUDE, Fault(0, 401, 0, "key expired"), "provider_auth"),
        (CLAUDE, Fault(1, 400, 0, TOO_LONG), "provider_context"),
        (CODEX, Fault(1, 400, 0, TOO_LONG), "provider_context"),
        (GEMINI, Fault(1, 0, 0), "provider_cut"),
        pytest.param(OPENHANDS, Fault(0, 401, 0, "key expired"), "provider_auth", marks=SLOW),
    ],
    ids=["claude key", "claude context", "codex context", "gemini cut", "openhands key, which ends with 0"],
)
def test_a_lasting_failure_is_a_typed_fault(
    clis: Clis, base: Path, stack: tuple[str, str], fault: Fault, code: str
) -> None:
    run, log = driven(clis, base, *stack, fault)
    assert (run["state"], run["fault_code"]) == ("failed", code), log


def test_an_agent_that_waits_for_a_dead_provider_is_ended(clis: Clis, base: Path) -> None:
    """Claude Code goes on asking for minutes; the platform's patience, here 30 s, is shorter."""
    run, log = driven(clis, base, *CLAUDE, Fault(1, 500, 0))
    assert (run["state"], run["fault_code"]) == ("failed", "provider_error"), log


def test_a_used_up_budget_of_tokens_ends_the_run_as_such(clis: Clis, base: Path) -> None:
    clis.install("claude-code")
    clis.provider.script = Script([LOOK] * 40)
    told = clis.platform.manage(
        *("run", "--agent", "claude-code", "--task", "arithmetic", "--base-model", str(base)),
        *("--budget", "600s", "--tokens", "500", "--detach"),
    )
    run = clis.platform.ended(told.strip().rstrip("/").rsplit("/", 1)[1], 600)
    assert (run["state"], run["fault_code"]) == ("timed_out", "tokens_used_up")


def test_an_agent_is_resumed_as_often_as_its_run_allows(clis: Clis, base: Path) -> None:
    clis.install("claude-code")
    clis.provider.script = Script([LOOK])
    told = clis.platform.manage(
        *("run", "--agent", "claude-code", "--task", "arithmetic", "--base-model", str(base)),
        *("--budget", "600s", "--resumes", "2", "--detach"),
    )
    slug = told.strip().rstrip("/").rsplit("/", 1)[1]
    assert clis.platform.ended(slug, 600)["state"] == "finished"
    steps = [each["data"] for each in clis.platform.get(slug, "events/") if each["kind"] == "run.step"]
    assert [each["resumed"] for each in steps if "resumed" in each] == [1, 2]
    log = (clis.platform.data / "runs" / slug / "agent.log").read_text()
    assert log.count('"subtype":"init"') == 3


def test_an_agent_without_its_key_does_not_start(clis: Clis, base: Path) -> None:
    clis.install("opencode")
    slug = clis.platform.run(base, "compatible/some-model", agent="opencode")
    run = clis.platform.ended(slug)
    assert (run["state"], run["fault_code"]) == ("failed", "agent_unavailable")
    assert "AGENT2_COMPATIBLE_KEY" in run["fault_detail"]
