"""Greedy accuracy on training problems held back: a look before the grader is asked."""

from typing import Any

import torch

from .problems import Row, is_right
from .session import Session

BATCH = 32


@torch.no_grad()
def accuracy(session: Session, model: Any, rows: list[Row]) -> float:
    """The share, 0 to 1, of `rows` that are answered rightly."""
    was_training = model.training
    model.eval()
    right = 0
    for start in range(0, len(rows), BATCH):
        part = rows[start : start + BATCH]
        answers = _answers(session, model, [row["prompt"] for row in part])
        right += sum(
            is_right(text, row["solution"], chat=session.recipe.chat) for text, row in zip(answers, part, strict=True)
        )
    model.train(was_training)
    return right / len(rows)


def _answers(session: Session, model: Any, prompts: list[Any]) -> list[str]:
    tokenizer = session.tokenizer
    if session.recipe.chat:
        prompts = [tokenizer.apply_chat_template(p, tokenize=False, add_generation_prompt=True) for p in prompts]
    inputs = tokenizer(
        prompts,
        return_tensors="pt",
        padding=True,
        padding_side="left",
        add_special_tokens=not session.recipe.chat,
        return_token_type_ids=False,
    ).to(model.device)
    made = model.generate(
        **inputs,
        do_sample=False,
        max_new_tokens=session.recipe.completion_tokens,
        pad_token_id=tokenizer.pad_token_id,
    )
    return list(tokenizer.batch_decode(made[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True))
