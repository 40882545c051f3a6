"""What executes an evaluation; settings name the implementation."""

from typing import Protocol, cast

from django.conf import settings
from django.utils.module_loading import import_string

from grading.contract import RunnerVerdict
from grading.models import Evaluation


class HoldLost(Exception):
    """The evaluation is no longer this worker's, or the worker stops."""


class Pulse(Protocol):
    """Called at least once a second while the work goes on."""

    def __call__(self, phase: str = "", done: int = 0, of: int = 0) -> bool:
        """Progress; False: the hold is lost, stop at once."""
        ...


class GradingRunner(Protocol):
    """Executes one evaluation and waits for its verdict."""

    def run(self, *, evaluation: Evaluation, pulse: Pulse) -> RunnerVerdict:
        """Raises: HoldLost: the pulse said stop. Any other exception is a fault of ours."""
        ...


def grading_runner() -> GradingRunner:
    return cast(GradingRunner, import_string(settings.GRADING_RUNNER)())
