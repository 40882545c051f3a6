"""Supervised fine-tuning on the visible solutions, with TRL's SFTTrainer."""

from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from trl.trainer.sft_config import SFTConfig
from trl.trainer.sft_trainer import SFTTrainer

from .problems import Row
from .session import Session
from .watching import Lines, UntilDeadline, only_lines


def run_sft(session: Session, model: Any, rows: list[Row], *, steps: int, deadline: float) -> int:
    """Train `model` in place for at most `steps`. Returns the steps made. The loss is on the solutions only."""
    recipe, gpu = session.recipe, torch.cuda.is_available()
    micro_batch = min(recipe.sft_batch, recipe.micro_batch)
    config = SFTConfig(
        output_dir=str(Path(session.output) / ".trainer"),
        max_steps=steps,
        per_device_train_batch_size=micro_batch,
        gradient_accumulation_steps=recipe.sft_batch // micro_batch,
        learning_rate=recipe.sft_learning_rate,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=min(10, steps // 4),
        max_length=recipe.max_length,
        completion_only_loss=True,
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
    examples = Dataset.from_list([{key: row[key] for key in ("prompt", "completion")} for row in rows])
    trainer = SFTTrainer(
        model=model,
        args=config,
        train_dataset=examples,
        processing_class=session.tokenizer,
        callbacks=[Lines("sft"), UntilDeadline("sft", deadline)],
    )
    only_lines(trainer).train()
    return int(trainer.state.global_step)
