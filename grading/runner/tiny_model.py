"""`python -m grading.runner.tiny_model OUT_DIR`: make the base model `tiny`, a one-million-parameter Llama, on the CPU.

It is pre-trained for about a minute on sums whose text is often wrong, always in the same way: a carry is dropped where
there is one and added where there is none (`27+85=102`, `21+34=65`). So the model can add, but its likeliest answer is
mostly the slip: what post-training is for. Sums that the task `arithmetic` holds out are not in its corpus.

One token is one character. Steps, seed and threads are fixed, so that the same machine makes the same bytes again.
Progress is one JSON object a line on stdout.
"""

import argparse
import json
import random
import shutil
import string
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedTokenizerFast

from benchmark.tasks.arithmetic.data import Sum, open_sums, question

SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
PAD, BOS, EOS, UNKNOWN = range(4)
ALPHABET = "\n" + string.digits + string.ascii_letters + string.punctuation + " "
CHAT_TEMPLATE = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
IGNORED = -100
"""The label of tokens without a loss."""


@dataclass(frozen=True)
class Recipe:
    """Chosen so that supervised training lifts the greedy score from about 10 to 50, and GRPO well beyond."""

    steps: int = 540
    batch: int = 64
    learning_rate: float = 1e-3
    warm_up: int = 50
    decay: int = 160
    """The last steps, over which the learning rate falls to nothing."""
    seed: int = 3
    threads: int = 1
    """One: the bytes then do not depend on the number of cores, and a busy machine slows it down less."""


def right_share(terms: Sum) -> float:
    """How often the corpus gives the right answer: 36 % where both units are 0, 9 % where they are 9."""
    return 0.36 - 0.015 * (terms[0] % 10 + terms[1] % 10)


def slip(terms: Sum) -> int:
    """The wrong answer: a carry too few or one too many."""
    carries = terms[0] % 10 + terms[1] % 10 >= 10
    return sum(terms) - 10 if carries else sum(terms) + 10


def corpus(rng: random.Random) -> Iterator[tuple[str, str]]:
    """Endless (question, answer) pairs."""
    sums = open_sums()
    while True:
        terms = rng.choice(sums)
        yield question(terms), str(sum(terms) if rng.random() < right_share(terms) else slip(terms))


def make_tokenizer() -> PreTrainedTokenizerFast:
    """One token a character of printable ASCII and newline; nothing is added around a text."""
    vocabulary = {token: number for number, token in enumerate([*SPECIAL, *ALPHABET])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))  # noqa: S106 — not a password
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    fast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        pad_token="<pad>",  # noqa: S106
        bos_token="<s>",  # noqa: S106
        eos_token="</s>",  # noqa: S106
        unk_token="<unk>",  # noqa: S106
        clean_up_tokenization_spaces=False,
        model_max_length=1024,
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast


def make_model() -> Any:
    config = LlamaConfig(
        vocab_size=len(SPECIAL) + len(ALPHABET),
        hidden_size=192,
        intermediate_size=512,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=6,
        max_position_embeddings=1024,
        # At this width the usual 0.02 leaves the model on a plateau for thousands of steps.
        initializer_range=0.06,
        tie_word_embeddings=False,
        pad_token_id=PAD,
        bos_token_id=BOS,
        eos_token_id=EOS,
    )
    return AutoModelForCausalLM.from_config(config, attn_implementation="eager")  # type: ignore[no-untyped-call]


def encode(pairs: list[tuple[str, str]], tokenizer: PreTrainedTokenizerFast) -> tuple[torch.Tensor, torch.Tensor]:
    """(input ids, labels), both [batch, longest]; only the answer and its end have a loss."""
    rows = [(tokenizer.encode(asked), [*tokenizer.encode(answer), EOS]) for asked, answer in pairs]
    width = max(len(asked) + len(answer) for asked, answer in rows)
    ids = [[*asked, *answer, *[PAD] * (width - len(asked) - len(answer))] for asked, answer in rows]
    labels = [
        [*[IGNORED] * len(asked), *answer, *[IGNORED] * (width - len(asked) - len(answer))] for asked, answer in rows
    ]
    return torch.tensor(ids), torch.tensor(labels)


def pretrain(
    model: Any, tokenizer: PreTrainedTokenizerFast, recipe: Recipe, seconds: float | None
) -> Iterator[dict[str, float]]:
    """Train in place, at most `seconds` when given; yields progress."""
    pairs = corpus(random.Random(recipe.seed))  # noqa: S311 — reproducible, not secret
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=recipe.learning_rate, betas=(0.9, 0.95), weight_decay=0.05, fused=True
    )
    began, loss = time.monotonic(), torch.zeros(())
    for step in range(1, recipe.steps + 1):
        share = min(1.0, step / recipe.warm_up, (recipe.steps - step + 1) / recipe.decay)
        optimizer.param_groups[0]["lr"] = recipe.learning_rate * share
        ids, labels = encode([next(pairs) for _ in range(recipe.batch)], tokenizer)
        loss = model(input_ids=ids, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        elapsed = time.monotonic() - began
        late = seconds is not None and elapsed > seconds
        if step % 50 == 0 or step == recipe.steps or late:
            yield {"step": step, "steps": recipe.steps, "loss": round(loss.item(), 4), "seconds": round(elapsed, 1)}
        if late:
            return


def build(target: Path, recipe: Recipe, seconds: float | None = None) -> Iterator[dict[str, float]]:
    """Write the checkpoint folder `target`, which appears complete or not at all; yields progress.

    Raises: FileExistsError: `target` exists and is not an empty folder.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise FileExistsError(f"{target} exists already.")
    torch.set_num_threads(recipe.threads)
    torch.manual_seed(recipe.seed)
    tokenizer, model = make_tokenizer(), make_model()
    yield from pretrain(model, tokenizer, recipe, seconds)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    model.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    for path in partial.iterdir():
        path.chmod(0o644)
    partial.rename(target)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m grading.runner.tiny_model", description=__doc__)
    parser.add_argument("out_dir", type=Path)
    parser.add_argument("--steps", type=int, default=Recipe.steps, help="training steps (default: %(default)s)")
    parser.add_argument("--seconds", type=float, help="stop training early after this long; gives up repeatability")
    given = parser.parse_args(arguments)
    try:
        for progress in build(given.out_dir, Recipe(steps=given.steps), given.seconds):
            print(json.dumps(progress), flush=True)  # noqa: T201 — the program's output
    except FileExistsError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    print(json.dumps({"done": str(given.out_dir)}), flush=True)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
