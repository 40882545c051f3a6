"""Watching an agent from its start to its end: its budgets, its provider, and whether it is started again."""

import time
from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from benchmark.gateway.ledger import TOO_LONG_MOST, Ledger
from benchmark.models import EventKind, Run, RunState
from benchmark.sandbox.contract import Exit, Running
from benchmark.services.agent_log import LogFollower
from benchmark.services.driving import LOOK_S, RunEnded, stop_if_asked
from benchmark.services.events import event_record
from benchmark.services.holding import STOPPING, Hold
from benchmark.services.provider_access import run_spent_store
from benchmark.services.pulse import database_patiently

GRACE_S = 60.0
"""For an agent whose provider's budget is used up, to end by itself."""
AUTH_PATIENCE_S = 120.0
"""A key that was refused is not mended by asking again."""
TERMINATED, TOGETHER_S = 128 + 15, 1.0
RESUMABLE = ("", "agent_failed", "provider_cut")
"""Codes of ends after which another start may help. Some agents end with the first answer that breaks off."""
RESUME_LEFT_S = 60.0
"""Not worth starting an agent for less."""


@dataclass(frozen=True)
class SessionEnd:
    """How one start of the agent ended. `exit_code` is None when it did not end by itself."""

    end: RunEnded
    exit_code: int | None
    seconds: float


class Watch:
    """One run's watch. Wall clock: `deadline_at` is what the page shows."""

    def __init__(self, hold: Hold, run: Run, ledger: Ledger, follower: LogFollower) -> None:
        self.hold, self.run, self.ledger, self.follower = hold, run, ledger, follower
        self._stored = ledger.spent()

    def left_s(self) -> float:
        """Seconds of the time budget."""
        assert self.run.deadline_at is not None
        return (self.run.deadline_at - timezone.now()).total_seconds()

    def account(self) -> None:
        """Record what the driver has used."""
        self._stored = run_spent_store(self.run.pk, self.ledger, self._stored)

    def until_end(self, running: Running) -> SessionEnd:
        """Until the agent ends, a budget does, or somebody stops it. Raises: RunEnded."""
        began = time.monotonic()
        while True:
            left = self.left_s()
            if left <= 0:
                return SessionEnd(RunEnded(RunState.TIMED_OUT), None, time.monotonic() - began)
            ended = running.wait(min(LOOK_S, left))
            self.follower.look_if_possible()
            self.account()
            if ended is not None:
                if ended.code == TERMINATED and STOPPING.wait(TOGETHER_S):
                    # Who ends a whole job, as `scancel` does, signals the worker and the agent alike.
                    stop_if_asked(self.hold)
                return SessionEnd(self._after_exit(ended), ended.code, time.monotonic() - began)
            stop_if_asked(self.hold)
            self._stop_if_starved()

    def _after_exit(self, ended: Exit) -> RunEnded:
        """An agent that fails without one submission has failed; with submissions its code is only a fact.

        When the last thing that its driver's provider said was a failure, that is why it ended, whatever its code:
        some agents exit with 0 then.
        """
        if ended.exceeded:
            text = f"The agent was ended: it went over its {ended.exceeded} limit."
            return RunEnded(RunState.FAILED, f"limit_{ended.exceeded}", text)
        if budget := self.ledger.used_up():
            return _budget_end(budget)
        if trouble := self.ledger.trouble():
            text = f"The agent ended after its provider failed {trouble.times} times. {trouble.detail}"
            return RunEnded(RunState.FAILED, f"provider_{trouble.kind}", text)
        counts = Run.objects.values_list("submission_count", flat=True)
        submitted = database_patiently(lambda: counts.get(pk=self.run.pk))
        if ended.code and not submitted:
            text = f"The agent ended with code {ended.code} and submitted nothing."
            return RunEnded(RunState.FAILED, "agent_failed", text)
        return RunEnded(RunState.FINISHED)

    def _stop_if_starved(self) -> None:
        """Raises: RunEnded: the budget of the provider is used up, or it has failed for too long, or too often."""
        if (budget := self.ledger.used_up()) and self.ledger.refused_for_s() > GRACE_S:
            raise _budget_end(budget)
        if self.ledger.always_too_long():
            text = f"The provider refused {TOO_LONG_MOST} conversations as too long; the agent did not get on."
            raise RunEnded(RunState.FAILED, "provider_context", text)
        trouble = self.ledger.trouble()
        if trouble is None:
            return
        patience = min(settings.PROVIDER_PATIENCE_S, AUTH_PATIENCE_S if trouble.kind == "auth" else float("inf"))
        if time.monotonic() - trouble.since > patience:
            text = f"The provider has not answered for {patience:g} s, {trouble.times} requests failed. "
            raise RunEnded(RunState.FAILED, f"provider_{trouble.kind}", text + trouble.detail)


def _budget_end(budget: str) -> RunEnded:
    return RunEnded(RunState.TIMED_OUT, f"{budget}_used_up", f"The run's budget of {budget} is used up.")


def resume_wanted(run: Run, watch: Watch, ended: SessionEnd) -> bool:
    """Whether the run's policy starts an agent again that has ended by itself with budget left."""
    return (
        run.resumed < run.resumes
        and ended.end.code in RESUMABLE
        and watch.left_s() > RESUME_LEFT_S
        and not watch.hold.must_end
    )


def run_resume(run: Run, watch: Watch, ended: SessionEnd) -> None:
    """Count and record another start."""
    run.resumed += 1
    database_patiently(lambda: Run.objects.filter(pk=run.pk).update(resumed=run.resumed))
    text = f"The agent ended with code {ended.exit_code} after {ended.seconds:.0f} s; {watch.left_s():.0f} s are left."
    event_record(
        run.pk,
        EventKind.RUN_STEP,
        text=f"{text} Started again, {run.resumed} of {run.resumes}.",
        resumed=run.resumed,
        exit_code=ended.exit_code,
    )
