"""A grading runner whose sandbox sleeps for a while, so that tests can meet a run while it is graded."""

import os
from pathlib import Path

from django.conf import settings

from benchmark.sandbox.contract import Exit, SandboxFault, Spec
from benchmark.services.sandboxes import sandbox_for_grading, sandbox_name
from grading.contract import RunnerVerdict
from grading.models import Evaluation
from grading.ports import HoldLost, Pulse
from grading.services.instant_runner import InstantRunner
from tests.support.pools import PACE


class SlowRunner:
    """Implements `grading.ports.GradingRunner`; AGENT2_TEST_GRADING_S seconds each, thrice that for a base model."""

    def run(self, *, evaluation: Evaluation, pulse: Pulse) -> RunnerVerdict:
        pace = Path(settings.DATA_DIR) / PACE
        told = pace.read_text() if pace.exists() else os.environ.get("AGENT2_TEST_GRADING_S", "3")
        seconds = float(told) * (3 if evaluation.is_baseline else 1)
        name = sandbox_name("evaluation", evaluation.pk)
        running = sandbox_for_grading().start(Spec(name=name, command=["sleep", f"{seconds:g}"]))
        ended: Exit | None = None
        try:
            while ended is None:
                if not pulse("scoring", 1, 2):
                    raise HoldLost
                ended = running.wait(0.1)
        finally:
            running.stop(0)
        if ended.code:
            raise SandboxFault(f"the grading runner ended with code {ended.code}")
        return InstantRunner().run(evaluation=evaluation, pulse=pulse)
