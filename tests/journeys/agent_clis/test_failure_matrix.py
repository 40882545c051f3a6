"""Every agent's program with every kind of trouble at its provider: it goes on by itself, or its run has a typed fault.

What each does is its makers' choice. What is ours: no run hangs, and a run that could not go on says why.
"""

import os
from pathlib import Path

import pytest

from tests.journeys.agent_clis.conftest import Clis
from tests.journeys.agent_clis.test_failures import SLOWLY, TOO_LONG, driven
from tests.journeys.agent_clis.test_sessions import AGENTS
from tests.support.scripted_provider import Fault

pytestmark = [
    pytest.mark.bubblewrap,
    pytest.mark.slow,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(
        not os.environ.get("AGENT2_TEST_ALL_FAILURES"), reason="half an hour: AGENT2_TEST_ALL_FAILURES=1 does it"
    ),
]
TROUBLE = {
    "429 twice": (Fault(1, 429, 2, "slow down", SLOWLY), ""),
    "500 twice": (Fault(1, 500, 2), ""),
    "a cut stream": (Fault(1, 0, 1), ""),
    "streams cut for ever": (Fault(1, 0, 0), "provider_cut"),
    "500 for ever": (Fault(1, 500, 0), "provider_error"),
    "an expired key": (Fault(0, 401, 0, "key expired"), "provider_auth"),
    "too long a context": (Fault(1, 400, 0, TOO_LONG), "provider_context"),
}


@pytest.mark.parametrize("trouble", TROUBLE)
@pytest.mark.parametrize(("agent", "driver"), [each[:2] for each in AGENTS], ids=[each[0] for each in AGENTS])
def test_it_goes_on_or_its_run_says_why(clis: Clis, base: Path, agent: str, driver: str, trouble: str) -> None:
    fault, code = TROUBLE[trouble]
    run, log = driven(clis, base, agent, driver, fault)
    told = (run["state"], run["fault_code"])
    assert told == (("failed", code) if code else ("finished", "")), log
