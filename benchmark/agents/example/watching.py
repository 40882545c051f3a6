"""Trainer callbacks: readable log lines, the end of a stage's time, submissions on the way."""

import time
from collections.abc import Callable
from typing import Any

from transformers import TrainerCallback
from transformers.trainer_callback import PrinterCallback, ProgressCallback

from .journal import say

SHOWN = {
    "loss": "loss {:.3f}",
    "mean_token_accuracy": "token accuracy {:.2f}",
    "reward": "reward {:.3f}",
    "completions/mean_length": "tokens {:.0f}",
}


class Lines(TrainerCallback):
    """One line a log: step, loss, reward, accuracy."""

    def __init__(self, stage: str) -> None:
        self._stage = stage

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        shown = [form.format(float(logs[key])) for key, form in SHOWN.items() if logs and key in logs]
        if shown and "train_runtime" not in (logs or {}):
            say(self._stage, f"step {state.global_step}/{state.max_steps}  {'  '.join(shown)}")


class UntilDeadline(TrainerCallback):
    """Stops when another step as long as the longest so far would end too late."""

    def __init__(self, stage: str, deadline: float) -> None:
        self._stage, self.deadline = stage, deadline
        self._longest, self._began = 0.0, 0.0

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._began = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        now = time.monotonic()
        self._longest = max(self._longest, now - self._began)
        if now + self._longest > self.deadline and state.global_step < state.max_steps:
            say(self._stage, f"step {state.global_step}/{state.max_steps}  stopping here, time is short")
            control.should_training_stop = True


class At(TrainerCallback):
    """Calls `action(step, model)` after each of some steps."""

    def __init__(self, steps: set[int], action: Callable[[int, Any], None]) -> None:
        self._steps, self._action = steps, action

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        if state.global_step in self._steps:
            self._action(state.global_step, model)


def only_lines(trainer: Any) -> Any:
    """The trainer without transformers' own printing."""
    trainer.remove_callback(PrinterCallback)
    trainer.remove_callback(ProgressCallback)
    return trainer
