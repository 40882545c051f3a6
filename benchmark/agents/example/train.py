"""A whole run without a language model: supervised warm-up, submit, GRPO from there, submit on the way and at the end.

`MODE` decides: `free` does both, `sft-only` goes on with supervised training, `rl-oriented` submits only what came out
of GRPO.
"""

import os
import sys
from pathlib import Path
from typing import Any

from transformers import set_seed

from .checking import accuracy
from .grpo import run_grpo
from .journal import say
from .problems import Row, load, prepare
from .session import Session, session_from
from .sft import run_sft
from .watching import UntilDeadline


def main() -> int:
    session = session_from(os.environ)
    set_seed(session.recipe.seed)
    rows = prepare(load(session.data), chat=session.recipe.chat, seed=session.recipe.seed)
    checked, rows = rows[: session.recipe.checked_items], rows[session.recipe.checked_items :]
    say("start", f"task {session.task}, mode {session.mode}, {len(rows)} problems, {session.grader.remaining():.0f} s")
    warm = _supervised(session, rows, checked)
    if session.mode == "sft-only":
        _more_supervised(session, warm, rows, checked)
    else:
        _reinforced(session, warm, rows, checked)
    return _closing(session)


def _look(session: Session, stage: str, model: Any, checked: list[Row]) -> None:
    if checked:
        say(stage, f"accuracy {100 * accuracy(session, model, checked):.0f} % on {len(checked)} problems held back")


def _supervised(session: Session, rows: list[Row], checked: list[Row]) -> Path:
    """The warm-up; its checkpoint is submitted unless the mode asks for reinforcement learning."""
    model = session.load(session.base)
    _look(session, "base", model, checked)
    deadline = session.deadline(keep=session.reserve(2), share=session.recipe.sft_time_share)
    steps = run_sft(session, model, rows, steps=session.recipe.sft_steps, deadline=deadline)
    _look(session, "sft", model, checked)
    if session.mode == "rl-oriented":
        return session.save(model, "warm_up")
    return session.offer(model, "v1_sft", f"SFT, {steps} steps on the visible solutions")


def _more_supervised(session: Session, start: Path, rows: list[Row], checked: list[Row]) -> None:
    """Three times as many steps from the first checkpoint on."""
    if not _time_for_more(session):
        return
    model = session.load(start)
    steps = run_sft(
        session,
        model,
        rows,
        steps=3 * session.recipe.sft_steps,
        deadline=session.deadline(keep=session.reserve()),
    )
    _look(session, "sft", model, checked)
    session.offer(model, "v2_sft", f"SFT, {steps} more steps from {start.name}")


def _reinforced(session: Session, start: Path, rows: list[Row], checked: list[Row]) -> None:
    """GRPO from the warm-up's checkpoint."""
    if not _time_for_more(session):
        return
    model = session.load(start)
    first = len(session.summary.entries) + 1

    def on_the_way(step: int, at_step: Any, clock: UntilDeadline) -> None:
        _look(session, "grpo", at_step, checked)
        number = len(session.summary.entries) + 1
        session.offer(at_step, f"v{number}_grpo", f"GRPO, {step} steps from {start.name}")
        clock.deadline = session.deadline(keep=session.reserve())

    keep = session.reserve(session.recipe.grpo_submissions)
    steps = run_grpo(session, model, rows, deadline=session.deadline(keep=keep), on_the_way=on_the_way)
    _look(session, "grpo", model, checked)
    number = len(session.summary.entries) + 1
    before = f" after v{number - 1}_grpo" if number > first else ""
    session.offer(model, f"v{number}_grpo", f"GRPO, {steps} steps from {start.name}{before}")


def _time_for_more(session: Session) -> bool:
    left, needed = session.grader.remaining(), session.reserve()
    if left < needed:
        say("stop", f"{left:.0f} s left, grading takes {needed:.0f} s")
    return left >= needed


def _closing(session: Session) -> int:
    scored = [entry for entry in session.summary.entries if entry.score is not None]
    if not scored:
        say("end", "no submission was scored")
        return 1
    best = max(scored, key=lambda entry: entry.score or 0.0)
    say("end", f"best {best.name} with {best.score:.2f}; see summary.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
