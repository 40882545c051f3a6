"""A grading runner that takes a while and keeps its hold meanwhile, so that tests can meet a run while it is graded."""

import os
import time

from grading.contract import RunnerVerdict
from grading.models import Evaluation
from grading.ports import HoldLost, Pulse
from grading.services.instant_runner import InstantRunner


class SlowRunner:
    """Implements `grading.ports.GradingRunner`; AGENT2_TEST_GRADING_S seconds each, thrice that for a base model."""

    def run(self, *, evaluation: Evaluation, pulse: Pulse) -> RunnerVerdict:
        seconds = float(os.environ.get("AGENT2_TEST_GRADING_S", "3")) * (3 if evaluation.is_baseline else 1)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not pulse("scoring", 1, 2):
                raise HoldLost
            time.sleep(0.1)
        return InstantRunner().run(evaluation=evaluation, pulse=pulse)
