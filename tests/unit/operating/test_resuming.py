"""After which ends an agent is started again."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmark.models import Run, RunState
from benchmark.services.driving import RunEnded
from benchmark.services.watching import RESUME_LEFT_S, SessionEnd, Watch, resume_wanted


@pytest.mark.parametrize(
    ("code", "resumed", "left_s", "must_end", "wanted"),
    [
        ("", 0, 600.0, False, True),
        ("agent_failed", 1, 600.0, False, True),
        ("provider_cut", 0, 600.0, False, True),
        ("provider_auth", 0, 600.0, False, False),
        ("provider_context", 0, 600.0, False, False),
        ("limit_memory", 0, 600.0, False, False),
        ("", 2, 600.0, False, False),
        ("", 0, RESUME_LEFT_S, False, False),
        ("", 0, 600.0, True, False),
    ],
)
def test_a_run_of_two_resumes(code: str, resumed: int, left_s: float, must_end: bool, wanted: bool) -> None:
    watch: Any = SimpleNamespace(left_s=lambda: left_s, hold=SimpleNamespace(must_end=must_end))
    ended = SessionEnd(RunEnded(RunState.FAILED if code else RunState.FINISHED, code), 0, 1.0)
    assert resume_wanted(Run(resumes=2, resumed=resumed), cast(Watch, watch), ended) is wanted
