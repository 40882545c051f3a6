"""Text that is too long, or no text: what evaluators and records get of it."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmark.tasks.contract import Completion, Record
from grading.runner.hearing import CHARACTERS_PER_TOKEN, RECORDED_CHARACTERS, heard
from grading.runner.samples import SampleStore


def said(text: str, max_tokens: int = 10) -> tuple[str, str]:
    completion, recorded = heard(Completion(text, 7, "length"), max_tokens)
    assert (completion.tokens, completion.finish_reason) == (7, "length")
    return completion.text, recorded


@pytest.mark.parametrize("text", ["", "plain", "\x00\x1b[31m\u2028\r\n", " " * 128 * 10, "𝟙" * 1280])
def test_what_an_honest_checkpoint_can_write_is_left_alone(text: str) -> None:
    assert said(text) == (text, text)


def test_pages_for_a_token_are_cut() -> None:
    told, recorded = said("x" * 5_000_000)
    assert told == "x" * 10 * CHARACTERS_PER_TOKEN
    assert recorded == told + "… [1,280 of 5,000,000 characters]"


def test_a_record_is_shorter_than_the_longest_answer() -> None:
    text = "x" * (RECORDED_CHARACTERS + 1)
    told, recorded = said(text, max_tokens=2048)
    assert told == text
    assert recorded.endswith("… [100,000 of 100,001 characters]")


def test_halves_of_characters_become_text() -> None:
    told, recorded = said("a\ud83d b")
    assert told == recorded == "a? b"


@pytest.mark.parametrize(
    "text", ["\x00\x07\x1b]0;title\x07", "\u2028\u2029\x85\x0c", "\ufffd\ufffd", '"}\n{"item_id": "x"}']
)
def test_records_stay_one_line_each_and_read_back(text: str, tmp_path: Path) -> None:
    _, recorded = said(text)
    records = [Record(str(n), "0" * 64, (recorded,), recorded, 0.0, 1, "stop") for n in range(3)]
    store = SampleStore(tmp_path, "digest")
    for record in records:
        store.add(record)
    store.finish([record.item_id for record in records])
    lines = (tmp_path / "samples.jsonl").read_bytes().split(b"\n")
    assert len(lines) == 4
    assert all(line.isascii() and line.decode().isprintable() for line in lines)
    assert [json.loads(line)["outputs"] for line in lines[:3]] == [[text]] * 3
    assert asdict(SampleStore(tmp_path, "digest").records["1"]) == asdict(records[1])
