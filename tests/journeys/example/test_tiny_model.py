"""The tiny base model: its corpus, its tokenizer, the same bytes from the same seed."""

import hashlib
import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers")

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmark.tasks.arithmetic.data import held_out_sums, problem
from grading.runner import tiny_model
from grading.runner.tiny_model import EOS, IGNORED, Recipe, corpus, encode, make_tokenizer, right_share, slip


def test_the_corpus_holds_nothing_held_out() -> None:
    held_out = {problem(terms) for terms in held_out_sums()}
    for asked, _ in itertools.islice(corpus(random.Random(0)), 5000):
        first, second = asked.removesuffix("=").split("+")
        assert problem((int(first), int(second))) not in held_out


def test_the_corpus_is_wrong_by_a_carry_and_mostly_so() -> None:
    pairs = list(itertools.islice(corpus(random.Random(0)), 5000))
    errors = [int(answer) - sum(map(int, asked.removesuffix("=").split("+"))) for asked, answer in pairs]
    assert set(errors) == {0, 10, -10}
    assert 0.2 < errors.count(0) / len(errors) < 0.25


@pytest.mark.parametrize(("terms", "wrong"), [((27, 85), 102), ((21, 34), 65), ((15, 15), 20), ((14, 15), 39)])
def test_slips(terms: tuple[int, int], wrong: int) -> None:
    assert slip(terms) == wrong


def test_shares_are_probabilities() -> None:
    assert right_share((10, 10)) == pytest.approx(0.36)
    assert right_share((99, 99)) == pytest.approx(0.09)


def test_one_token_a_character_and_back() -> None:
    tokenizer = make_tokenizer()
    text = "27+85=112\nAre 3 * 4 - 1 = 11? {yes}"
    ids = tokenizer.encode(text)
    assert len(ids) == len(text)
    assert tokenizer.decode(ids) == text
    assert tokenizer.decode(tokenizer.encode("é")) == "<unk>"


def test_only_the_answer_and_its_end_have_a_loss() -> None:
    tokenizer = make_tokenizer()
    ids, labels = encode([("10+11=", "21"), ("90+85=", "175")], tokenizer)
    assert ids.shape == labels.shape == (2, 10)
    assert [label for label in labels[0].tolist() if label != IGNORED] == [*tokenizer.encode("21"), EOS]
    assert (ids[labels != IGNORED] == labels[labels != IGNORED]).all()


@pytest.mark.slow
def test_the_same_seed_makes_the_same_bytes_and_it_loads(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        assert tiny_model.main([str(tmp_path / name), "--steps", "3"]) == 0
    digests = {
        hashlib.sha256((tmp_path / name / "model.safetensors").read_bytes()).hexdigest() for name in ("one", "two")
    }
    assert len(digests) == 1
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert lines[0]["step"] == lines[0]["steps"] == 3
    assert lines[1] == {"done": str(tmp_path / "one")}
    model: Any = AutoModelForCausalLM.from_pretrained(tmp_path / "one")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "one")
    assert len(tokenizer) == model.config.vocab_size == model.get_input_embeddings().weight.shape[0]
    made = model.generate(**tokenizer("12+34=", return_tensors="pt"), max_new_tokens=2, do_sample=False)
    assert made.shape == (1, 8)
    assert tokenizer.apply_chat_template([{"role": "user", "content": "hi"}], tokenize=False) == "hi\n"


@pytest.mark.slow
def test_training_ends_early_when_told_to() -> None:
    model, tokenizer = tiny_model.make_model(), make_tokenizer()
    before = model.lm_head.weight.detach().clone()
    progress = list(tiny_model.pretrain(model, tokenizer, Recipe(steps=500, batch=2), seconds=0.0))
    assert [entry["step"] for entry in progress] == [1]
    assert not torch.equal(before, model.lm_head.weight)
