"""`spec.json`: what is refused, and that the message names the field."""

import json
from pathlib import Path
from typing import Any

import pytest

from grading.contract import RunnerSpec
from grading.runner.spec import SpecError, read_spec


@pytest.fixture
def raw(tmp_path: Path) -> dict[str, Any]:
    folders = {name: str(tmp_path) for name in ("task_dir", "held_out", "checkpoint", "reference")}
    return {"protocol": "toy/1", **folders}


def read(tmp_path: Path, raw: Any) -> RunnerSpec:
    path = tmp_path / "spec.json"
    path.write_text(raw if isinstance(raw, str) else json.dumps(raw))
    return read_spec(path)


def test_defaults(tmp_path: Path, raw: dict[str, Any]) -> None:
    spec = read(tmp_path, raw)
    assert (spec.engine, spec.device, spec.dtype, spec.limit) == ("transformers", "cpu", "float32", None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"engine": "onnx"}, "engine must be one of transformers, vllm"),
        ({"dtype": "int8"}, "dtype must be one of"),
        ({"device": "tpu"}, "device must be cpu, cuda or cuda:N"),
        ({"limit": 0}, "limit must be at least 1"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"batch_size": None}, "batch_size must be a whole number"),
        ({"threads": True}, "threads must be a whole number or null"),
        ({"batch_invariant": 1}, "batch_invariant must be true or false"),
        ({"batch_invariant": True}, "batch_invariant needs the engine vllm on a GPU, not transformers on cpu"),
        ({"batch_invariant": True, "engine": "vllm"}, "needs the engine vllm on a GPU, not vllm on cpu"),
        ({"batch_invariant": True, "device": "cuda"}, "needs the engine vllm on a GPU, not transformers on cuda"),
        ({"outside": ""}, "outside must be a non-empty string"),
        ({"outside": 3}, "outside must be a non-empty string"),
        ({"seed": "0"}, "seed must be a whole number"),
        ({"protocol": ""}, "protocol must be a non-empty string"),
        ({"checkpoint": "/nowhere"}, "checkpoint is not a folder: /nowhere"),
        ({"checkpoint": ""}, "checkpoint is not a folder"),
        ({"checkpoint": "", "engine": "openai", "endpoint": "m"}, "checkpoint is not a folder"),
        ({"engine": "openai"}, "endpoint names the model"),
        ({"endpoint": "m"}, "endpoint names the model"),
        ({"version": 2}, "this runner reads version 1"),
        ({"sampling": 1, "top_p": 1}, "unknown fields: sampling, top_p"),
    ],
)
def test_wrong_values(changes: dict[str, Any], message: str, tmp_path: Path, raw: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=message):
        read(tmp_path, raw | changes)


def test_batch_invariant_vllm_on_a_gpu(tmp_path: Path, raw: dict[str, Any]) -> None:
    assert read(tmp_path, raw | {"engine": "vllm", "device": "cuda"}).batch_invariant is False
    assert read(tmp_path, raw | {"engine": "vllm", "device": "cuda", "batch_invariant": True}).batch_invariant is True


def test_a_model_elsewhere_needs_no_folders(tmp_path: Path, raw: dict[str, Any]) -> None:
    spec = read(tmp_path, raw | {"engine": "openai", "endpoint": "m", "checkpoint": "", "reference": ""})
    assert (spec.endpoint, spec.checkpoint) == ("m", "")


def test_missing_fields(tmp_path: Path, raw: dict[str, Any]) -> None:
    del raw["held_out"], raw["checkpoint"]
    with pytest.raises(SpecError, match="lacks checkpoint, held_out"):
        read(tmp_path, raw)


@pytest.mark.parametrize(("text", "message"), [("{", "is not JSON"), ("[]", "must be a JSON object")])
def test_not_an_object(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=message):
        read(tmp_path, text)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        read_spec(tmp_path / "absent.json")
