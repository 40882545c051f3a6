"""A checkpoint that never stops and writes pages, control characters and broken UTF-8: it is scored, and its records
can be read."""

import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from grading.contract import RunnerSpec
from grading.runner.hearing import CHARACTERS_PER_TOKEN
from tests.journeys.runner.conftest import samples
from tests.journeys.runner.test_refusals import grade
from tests.unit.runner.checkpoints import SIZES, SPECIALS, TEMPLATE, llama, save

NASTY = ["<0xFF>", "<0xC3>", "\x00", "\x07", "\x1b[2J", "\x1b]0;t\x07", "\u2028", "\u202e", "\r", '"}\n{"item_id":"x"}']
PAGE = "page " * 100_000


def nasty_tokenizer() -> Any:
    """As many tokens as the random model has, all of them nasty."""
    tokens = [*SPECIALS, "?", *NASTY, PAGE]
    tokens += [f"{NASTY[n % len(NASTY)]}{n}" for n in range(SIZES["vocab_size"] - len(tokens))]
    core = Tokenizer(models.WordLevel({token: n for n, token in enumerate(tokens)}, unk_token="?"))
    core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    core.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=core,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        unk_token="?",
        additional_special_tokens=["<|im_start|>", "<|im_end|>"],
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def test_it_is_scored_and_its_records_are_small_and_readable(
    make_spec: Callable[..., RunnerSpec], tmp_path: Path
) -> None:
    outputs = ""
    for seed in range(4):
        checkpoint = save(tmp_path / f"nasty-{seed}", llama(seed), nasty_tokenizer())
        out = tmp_path / f"out-{seed}"
        verdict = grade(make_spec(checkpoint=str(checkpoint), limit=8), out)
        assert (verdict.finding, verdict.n_scored) == (None, 8)
        assert "W_NO_STOP" in [warning.code for warning in verdict.warnings]
        file = (out / "samples.jsonl").read_bytes()
        assert len(file) < 1_000_000
        assert file.count(b"\n") == 8
        assert file.replace(b"\n", b"").decode("ascii").isprintable()
        for sample in samples(out):
            assert all(len(output) < 12 * CHARACTERS_PER_TOKEN + 50 for output in sample["outputs"])
        outputs += "".join(text for sample in samples(out) for text in sample["outputs"])
        json.dumps(verdict.as_dict(), allow_nan=False)
    # It did write all that.
    assert "\ufffd" in outputs
    assert "\x1b" in outputs
    assert " characters]" in outputs
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4_000_000  # kB
