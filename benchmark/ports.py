"""What the lower room asks of the rooms above it; settings name the implementation."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, cast

from django.conf import settings
from django.utils.module_loading import import_string

from benchmark.gateway.routes import Route
from benchmark.models import Run
from benchmark.sandbox.contract import Running


class GradingRoom(Protocol):
    """What runs need of grading."""

    def opened(self, run: Run) -> None:
        """A run was created, in the caller's transaction."""
        ...

    def baseline_request(self, run_id: int, base_folder: Path) -> None:
        """Fingerprint the base model and ask for its own evaluation on the run's task, unless it is stored."""
        ...

    def baseline_ready(self, run_id: int) -> bool:
        """True when the baseline is scored, or cannot be: then the run goes on without one."""
        ...

    def at_work(self) -> bool:
        """Whether any worker executes an evaluation now. Each has a deadline and few attempts; baselines come first."""
        ...

    def pending(self, run_id: int) -> int:
        """Submissions of the run that have not ended."""
        ...

    def has_submission(self, run_id: int, number: int) -> bool:
        """Whether the run has a submission of that number; those of a run made elsewhere may leave some out."""
        ...

    def withdraw(self, run_id: int) -> None:
        """End what has not been graded: the run was cancelled."""
        ...

    def evaluation_held(self, evaluation_id: int) -> bool:
        """Whether a worker executes that evaluation now."""
        ...

    def service_routes(self, needs: Sequence[str]) -> Sequence[Route]:
        """Ways to this worker's search and judge, for an agent's gateway."""
        ...


class LiveRecording(Protocol):
    """A recording under way."""

    def follow(self, running: Running) -> None:
        """The agent was started."""
        ...

    def leave(self) -> None:
        """Another worker goes on recording: nothing is sealed at the end of this one."""
        ...


class RunRecorder(Protocol):
    """What keeps the transcript of a run and samples its machine."""

    def recording(
        self, run_id: int, *, log_path: Path, workspace: Path, secrets: tuple[str, ...] = ()
    ) -> AbstractContextManager[LiveRecording]:
        """Record while the body works; its own faults are logged and never raised. At the end the log is sealed."""
        ...


def run_recorder() -> RunRecorder:
    return cast(RunRecorder, import_string(settings.RECORDER)())


def grading_room() -> GradingRoom:
    return cast(GradingRoom, import_string(settings.GRADING_PORT)())
