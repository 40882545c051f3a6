"""Many prompts at once give the completions of one prompt at a time."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import GenerationConfig

from benchmark.tasks.contract import Completion
from grading.contract import RunnerSpec
from grading.runner.checkpoint import Checkpoint
from grading.runner.engines.protocol import Request
from grading.runner.engines.slot_batch import ATTENTION, SlotBatch, common_length
from grading.runner.engines.transformers_engine import TransformersEngine
from grading.runner.faults import ArtifactFault
from grading.runner.stops import Decoder
from tests.unit.runner.checkpoints import SIZES, character_tokenizer, gemma2, llama, qwen2, save

STOPS = (2, 4)


def requests(count: int, *, prefix: int, seed: int = 1) -> list[Request]:
    """Prompts of different lengths and limits behind a common prefix; every fourth has a stop string."""
    rng = random.Random(seed)
    vocabulary = range(5, SIZES["vocab_size"])
    head = tuple(rng.choices(vocabulary, k=prefix))
    return [
        Request(
            tokens=head + tuple(rng.choices(vocabulary, k=rng.randint(1, 30))),
            max_tokens=rng.randint(1, 24),
            stop=("e", "ab") if number % 4 == 3 else (),
        )
        for number in range(count)
    ]


def one_at_a_time(model: Any, decoder: Decoder, request: Request) -> Completion:
    """What `generate` says alone, cut afterwards by the plain meaning of the stops."""
    assert model.config._attn_implementation != ATTENTION
    config = GenerationConfig(  # type: ignore[no-untyped-call]
        do_sample=False, max_new_tokens=request.max_tokens, eos_token_id=list(STOPS), pad_token_id=0
    )
    ids = torch.tensor([request.tokens])
    output = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config)[
        0, len(request.tokens) :
    ]
    tokens = output.tolist()
    for end in range(1, len(tokens) + 1):
        text = decoder.text(tokens[:end], ())
        cuts = [text.index(s) for s in request.stop if s in text]
        if tokens[end - 1] in STOPS:
            return Completion(decoder.text(tokens[: end - 1], ()), end, "stop")
        if cuts:
            return Completion(text[: min(cuts)], end, "stop")
    return Completion(decoder.text(tokens, ()), len(tokens), "length")


def run(batch: Any, asked: list[Request]) -> dict[int, Completion]:
    for key, request in enumerate(asked):
        batch.submit(key, request)
    done: dict[int, Completion] = {}
    with torch.inference_mode():
        for _ in range(2000):
            done.update(batch.step())
            if len(done) == len(asked):
                return done
    raise AssertionError("the batch does not end")


@pytest.fixture(scope="module")
def decoder() -> Decoder:
    return Decoder(character_tokenizer(), STOPS)


@pytest.mark.parametrize("make", [llama, qwen2])
@pytest.mark.parametrize("prefix", [0, 40])
@pytest.mark.parametrize("slots", [1, 5])
def test_batched_equals_one_at_a_time(make: Any, prefix: int, slots: int, decoder: Decoder) -> None:
    model = make()
    asked = requests(11, prefix=prefix)
    done = run(SlotBatch(make(), decoder, slots=slots, context=512), asked)
    assert [done[key] for key in range(len(asked))] == [one_at_a_time(model, decoder, r) for r in asked]
    assert {c.finish_reason for c in done.values()} == {"stop", "length"}


def test_prompts_outside_the_shared_prefix_join_the_batch(decoder: Decoder) -> None:
    model = llama()
    batch = SlotBatch(llama(), decoder, slots=4, context=512)
    first, later = requests(6, prefix=40), requests(6, prefix=0, seed=9)
    run(batch, first)
    assert run(batch, later) == {key: one_at_a_time(model, decoder, r) for key, r in enumerate(later)}
    mixed = [r for pair in zip(first, later, strict=True) for r in pair]
    assert run(batch, mixed) == {key: one_at_a_time(model, decoder, r) for key, r in enumerate(mixed)}


def test_a_longer_prompt_reuses_what_its_slot_holds(decoder: Decoder) -> None:
    model = llama()
    batch = SlotBatch(model, decoder, slots=2, context=512)
    opening = requests(1, prefix=60)[0]
    run(batch, [opening])
    seen: list[int] = []
    forward = model.forward

    def counting(**inputs: Any) -> Any:
        seen.append(inputs["input_ids"].shape[1])
        return forward(**inputs)

    model.forward = counting
    longer = Request((*opening.tokens, 7, 8, 9), max_tokens=1)
    done = run(batch, [longer])
    assert seen == [3]
    assert done[0] == one_at_a_time(llama(), decoder, longer)


def test_a_model_that_computes_nan_is_refused_while_it_generates(decoder: Decoder) -> None:
    model = llama()
    with torch.no_grad():
        model.model.layers[1].mlp.down_proj.weight[0, 0] = float("nan")
    with pytest.raises(ArtifactFault) as caught:
        run(SlotBatch(model, decoder, slots=2, context=512), requests(1, prefix=4))
    assert caught.value.finding.code == "E_NONFINITE"


def engine(folder: Path, make: Any, decoder: Decoder) -> TransformersEngine:
    model = make()
    save(folder, model)
    spec = RunnerSpec("toy/1", "", "", str(folder), str(folder), batch_size=4, threads=1)
    checkpoint = Checkpoint(folder, model.config, character_tokenizer(), SIZES["vocab_size"], 512, 0)
    started = TransformersEngine(spec, checkpoint, decoder, 512)
    started.load()
    started.probe(requests(1, prefix=30)[0].tokens)
    return started


@pytest.mark.parametrize(("make", "batching"), [(llama, "slots"), (qwen2, "slots"), (gemma2, "static")])
def test_the_engine_knows_which_models_fit_slots(make: Any, batching: str, decoder: Decoder, tmp_path: Path) -> None:
    started = engine(tmp_path, make, decoder)
    assert started.versions()["batching"] == batching
    model = make()
    asked = requests(9, prefix=20)
    assert run(started, asked) == {key: one_at_a_time(model, decoder, r) for key, r in enumerate(asked)}


def test_common_length() -> None:
    assert common_length([[1, 2, 3], [1, 2, 4], [1, 2]]) == 2
    assert common_length([(1, 2), (1, 2)]) == 2
    assert common_length([[], [1]]) == 0
