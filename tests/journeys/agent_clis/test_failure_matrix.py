"""Every agent's program with every kind of trouble at its provider: it goes on by itself, or its run has a typed fault.

What each does is its makers' choice (docs/agents.md has it as a table). What is ours: no run hangs, and a run that
could not go on says why.
"""

import os
from pathlib import Path

import pytest

from tests.journeys.agent_clis.conftest import Clis
from tests.journeys.agent_clis.test_sessions import AGENTS
from tests.journeys.agent_clis.troubles import ALWAYS, CANNOT_MEET, ENDS_OTHERWISE, TROUBLES
from tests.support.scripted_provider import Script, Turn

pytestmark = [pytest.mark.bubblewrap, pytest.mark.slow, pytest.mark.timeout(1500)]
TURNS = [Turn("ls", "Look."), Turn("cat description.md | head -3", "What is to be done? I read its first lines.")]
ON_DEMAND = pytest.mark.skipif(
    not os.environ.get("AGENT2_TEST_ALL_FAILURES"), reason="half an hour with the others: AGENT2_TEST_ALL_FAILURES=1"
)
CELLS = [
    pytest.param(
        agent, driver, trouble, id=f"{agent}, {trouble}", marks=() if (agent, trouble) in ALWAYS else ON_DEMAND
    )
    for agent, driver, *_ in AGENTS
    for trouble in TROUBLES
    if (agent, trouble) not in CANNOT_MEET
]


@pytest.mark.parametrize(("agent", "driver", "trouble"), CELLS)
def test_it_goes_on_or_its_run_says_why(clis: Clis, base: Path, agent: str, driver: str, trouble: str) -> None:
    fault = TROUBLES[trouble].fault
    code = ENDS_OTHERWISE.get((agent, trouble), TROUBLES[trouble].code)
    clis.install(agent)
    clis.provider.play(Script(TURNS, faults=[fault]))
    slug = clis.platform.run(base, driver, agent=agent)
    run = clis.platform.ended(slug, 640)
    log = (clis.platform.data / "runs" / slug / "agent.log").read_text(errors="replace")[-3000:]
    assert (run["state"], run["fault_code"]) == (("failed", code) if code else ("finished", "")), log
    assert clis.provider.struck() >= max(fault.times, 1), log
