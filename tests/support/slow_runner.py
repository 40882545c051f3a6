"""A grading runner that takes a while and keeps its hold meanwhile, so that tests can meet a run while it is graded."""

import os
import time

from grading.contract import RunnerVerdict
from grading.models import Evaluation
from grading.ports import HoldLost, Pulse
from grading.services.instant_runner import InstantRunner


class SlowRunner:
    """Implements `grading.ports.GradingRunner`; AGENT2_TEST_GRADING_S seconds for each evaluation."""

    def run(self, *, evaluation: Evaluation, pulse: Pulse) -> RunnerVerdict:
        end = time.monotonic() + float(os.environ.get("AGENT2_TEST_GRADING_S", "3"))
        while time.monotonic() < end:
            if not pulse("scoring", 1, 2):
                raise HoldLost
            time.sleep(0.1)
        return InstantRunner().run(evaluation=evaluation, pulse=pulse)
