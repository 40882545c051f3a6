"""Reinforcement learning against the verifiable reward, with TRL's GRPOTrainer."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from .problems import Row, reward
from .session import Session
from .watching import At, Lines, UntilDeadline, only_lines


def run_grpo(
    session: Session,
    model: Any,
    rows: list[Row],
    *,
    deadline: float,
    on_the_way: Callable[[int, Any, UntilDeadline], None],
) -> int:
    """Train `model` in place. Returns the steps made.

    `on_the_way(step, model, clock)` is called at evenly spaced steps before the last, where a checkpoint is due.
    """
    steps = session.recipe.grpo_steps
    parts = session.recipe.grpo_submissions
    due = {steps * part // parts for part in range(1, parts)} - {0, steps}
    clock = UntilDeadline("grpo", deadline)
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=reward,
        args=_config(session, steps, answering_s=max(1.0, (deadline - time.monotonic()) / 4)),
        train_dataset=Dataset.from_list([{key: row[key] for key in ("prompt", "solution")} for row in rows]),
        processing_class=session.tokenizer,
        callbacks=[Lines("grpo"), clock, At(due, lambda step, at_step: on_the_way(step, at_step, clock))],
    )
    only_lines(trainer).train()
    return int(trainer.state.global_step)


def _config(session: Session, steps: int, *, answering_s: float) -> GRPOConfig:
    """`answering_s` bounds one round of answers, so that a slow machine does not spend all its time on the first."""
    recipe, gpu = session.recipe, torch.cuda.is_available()
    answers = recipe.grpo_prompts * recipe.grpo_group
    micro_batch = min(answers, recipe.micro_batch)
    return GRPOConfig(
        output_dir=str(Path(session.output) / ".trainer"),
        max_steps=steps,
        per_device_train_batch_size=micro_batch,
        gradient_accumulation_steps=answers // micro_batch,
        num_generations=recipe.grpo_group,
        max_completion_length=recipe.completion_tokens,
        generation_kwargs={"max_time": answering_s},
        learning_rate=recipe.grpo_learning_rate,
        lr_scheduler_type="constant",
        beta=0.0,
        temperature=1.0,
        logging_steps=recipe.log_every,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=not gpu,
        bf16=gpu,
        gradient_checkpointing=gpu,
        dataloader_pin_memory=gpu,
        seed=recipe.seed,
    )
