"""What the parts of driving a run share: how it ends early, and what it says on the way."""

from benchmark.models import EventKind, Run, RunState
from benchmark.services.events import event_record
from benchmark.services.holding import STOPPING, Hold

LOOK_S = 0.5


class RunEnded(Exception):
    """The run cannot go on: cancelled, lost, or a fault of ours. `code` is empty when it is not a fault."""

    def __init__(self, outcome: RunState, code: str = "", detail: str = "") -> None:
        super().__init__(detail or code or outcome)
        self.outcome, self.code, self.detail = outcome, code, detail


def step(hold: Hold, text: str) -> None:
    """Tell people what is being done."""
    Run.objects.filter(pk=hold.run_id).update(step=text[:120])
    event_record(hold.run_id, EventKind.RUN_STEP, text=text)


def stop_if_asked(hold: Hold) -> None:
    """Raises: RunEnded: cancelled, lost, or this worker is being stopped."""
    if hold.cancelled.is_set():
        raise RunEnded(RunState.CANCELLED)
    if hold.lost.is_set():
        raise RunEnded(RunState.FAILED)
    if STOPPING.is_set():
        raise RunEnded(RunState.FAILED, "worker_stopped", "The worker was stopped. Start the run again.")
