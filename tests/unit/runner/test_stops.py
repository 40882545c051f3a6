"""Stop tokens come from three places; stop strings are found across token borders."""

import json
from pathlib import Path
from typing import Any

import pytest

from grading.runner.stops import Decoder, StopTokens
from tests.unit.runner.checkpoints import character_tokenizer


@pytest.mark.parametrize(
    ("config", "generation", "ids"),
    [
        ({"eos_token_id": 7}, None, (2, 7)),
        ({"eos_token_id": 7}, {"eos_token_id": [8, 9]}, (2, 8, 9)),
        ({"eos_token_id": 7}, {"eos_token_id": None}, (2, 7)),
        ({"text_config": {"eos_token_id": 5}}, {}, (2, 5)),
        ({}, None, (2,)),
        ({"eos_token_id": True}, None, (2,)),
    ],
)
def test_stop_tokens(config: Any, generation: Any, ids: tuple[int, ...], tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    if generation is not None:
        (tmp_path / "generation_config.json").write_text(json.dumps(generation))
    assert StopTokens.read(tmp_path, character_tokenizer()).ids == ids


def test_unreadable_files_name_no_stops(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    (tmp_path / "generation_config.json").write_text("[]")
    assert StopTokens.read(tmp_path, character_tokenizer()).ids == (2,)


def test_stop_strings() -> None:
    tokenizer = character_tokenizer()
    decoder = Decoder(tokenizer, [2])
    tokens = tokenizer.encode("one\nUser: two", add_special_tokens=False)
    found = [end for end in range(1, len(tokens) + 1) if decoder.at_stop_string(tokens[:end], ("\nUser:", "zz"))]
    assert found[0] == len("one\nUser:")
    assert decoder.text(tokens, ("\nUser:", "e")) == "on"
    assert decoder.text(tokens, ()) == "one\nUser: two"
    assert not decoder.at_stop_string(tokens, ())


def test_special_tokens_are_not_text() -> None:
    tokenizer = character_tokenizer()
    tokens = tokenizer.encode("<|im_start|>a<|im_end|>", add_special_tokens=False)
    assert Decoder(tokenizer, [2]).text(tokens, ()) == "a"
