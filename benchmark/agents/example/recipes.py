"""What to do for which task: numbers only. `RECIPE`, a JSON object in the environment, overrides single ones."""

import json
import os
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Recipe:
    """Numbers of one task. Steps are the most that are made; the time left may allow fewer."""

    chat: bool
    """Prompts are chat messages rendered with the model's template, else raw text."""
    sft_steps: int
    sft_batch: int
    sft_learning_rate: float
    grpo_steps: int
    grpo_prompts: int
    """Prompts a step; each is answered `grpo_group` times."""
    grpo_group: int
    grpo_learning_rate: float
    completion_tokens: int
    grpo_submissions: int = 2
    """Checkpoints submitted on the way, evenly spaced; the last is the end of training."""
    micro_batch: int = 512
    """Sequences in one forward pass; larger batches accumulate gradients."""
    max_length: int = 1024
    """Longest training example in tokens."""
    checked_items: int = 0
    """Training problems held back to measure accuracy here, before asking the grader."""
    sft_time_share: float = 0.35
    """Of the time that is left when it starts."""
    grading_guess_s: float = 30.0
    """How long a submission may take, until one was seen."""
    log_every: int = 5
    seed: int = 7


RECIPES = {
    "arithmetic": Recipe(
        chat=False,
        sft_steps=30,
        sft_batch=64,
        sft_learning_rate=3e-4,
        grpo_steps=140,
        grpo_prompts=32,
        grpo_group=8,
        grpo_learning_rate=2e-4,
        completion_tokens=5,
        checked_items=100,
    ),
}
ON_CPU = Recipe(
    chat=True,
    sft_steps=60,
    sft_batch=4,
    sft_learning_rate=2e-5,
    grpo_steps=100,
    grpo_prompts=2,
    grpo_group=4,
    grpo_learning_rate=2e-6,
    completion_tokens=128,
    max_length=512,
    grading_guess_s=120.0,
    log_every=1,
)
ON_GPU = replace(
    ON_CPU,
    sft_steps=400,
    sft_batch=16,
    sft_learning_rate=1e-5,
    grpo_steps=400,
    grpo_prompts=16,
    grpo_group=8,
    completion_tokens=320,
    micro_batch=16,
    max_length=1024,
    checked_items=64,
    log_every=5,
)


def recipe_for(task: str, *, gpu: bool) -> Recipe:
    """The task's own recipe, or the general one for this machine, with the overrides applied."""
    recipe = RECIPES.get(task, ON_GPU if gpu else ON_CPU)
    return replace(recipe, **json.loads(os.environ.get("RECIPE") or "{}"))
