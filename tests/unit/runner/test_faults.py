"""Whose fault an exception is, what a verdict warns of, and what an evaluator may not return."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmark.tasks.contract import Item, Metrics, Record
from benchmark.tasks.held_out import held_out_digest
from grading.contract import RunnerSpec
from grading.runner.engines.guarded import GuardedEngine
from grading.runner.engines.vllm_engine import tensor_parallel_size
from grading.runner.faults import ArtifactFault, InfraFault
from grading.runner.load_errors import load_fault
from grading.runner.machine import device_bytes
from grading.runner.stops import StopTokens
from grading.runner.task_loading import checked_items, checked_metrics, load_evaluator
from grading.runner.verdicts import no_stop_warnings


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RuntimeError("You set ignore_mismatched_sizes to False, thus raising an error"), "E_SHAPE"),
        (
            ValueError("The checkpoint has model type 'foo' but Transformers does not recognize this architecture"),
            "E_ARCH",
        ),
        (ValueError("Model architectures ['LlamaModel'] are not supported for now."), "E_ARCH"),
        (ImportError("Using bitsandbytes 4-bit quantization requires bitsandbytes"), "E_QUANT"),
        (Exception("Error while deserializing header: incomplete metadata, file not fully covered"), "E_TRUNCATED"),
        (OSError("Error no file named model.safetensors found in directory"), "E_SHARD_MISSING"),
        (ValueError("User-specified max_model_len (8192) is greater than the derived max_model_len"), "E_CONTEXT"),
        (ValueError("No available memory for the cache blocks."), "I_MEMORY"),
        (MemoryError(), "I_MEMORY"),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), "I_MEMORY"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), "I_MEMORY"),
        (ValueError("Free memory on device (1/80 GiB) is less than desired"), "I_GPU_BUSY"),
        (RuntimeError("NCCL error"), "I_ENGINE"),
        (InfraFault("I_DISK", "full"), "I_DISK"),
    ],
)
def test_load_faults(error: Exception, code: str) -> None:
    fault = load_fault(error)
    assert fault.finding.code == code
    assert fault.fault == ("artifact" if code.startswith("E_") else "infra")
    assert fault.finding.fix or code.startswith("I_")


def test_a_model_that_fills_the_device_alone_is_too_large() -> None:
    fault = load_fault(MemoryError(), weights_bytes=99, device_bytes=100)
    assert isinstance(fault, ArtifactFault)
    assert fault.finding.code == "E_TOO_LARGE"


def test_failures_while_generating_are_typed() -> None:
    def engine(error: Exception) -> Any:
        def step() -> Any:
            raise error

        return GuardedEngine(SimpleNamespace(step=step), 1, 100)

    for error, code in ((MemoryError(), "I_MEMORY"), (RuntimeError("x"), "I_ENGINE"), (InfraFault("I_X", ""), "I_X")):
        with pytest.raises(InfraFault) as caught:
            engine(error).step()
        assert caught.value.finding.code == code


def test_the_hosts_memory_is_known() -> None:
    assert device_bytes("cpu") > 2**28


def record(reason: Any) -> Record:
    return Record("a", "", (), None, 0.0, 1, reason)


def test_no_stop_warning() -> None:
    stops = StopTokens((1,), (2,), (3,))
    assert no_stop_warnings([], stops, None) == ()
    assert no_stop_warnings([record("stop")] * 19 + [record("length")], stops, None) == ()
    (warning,) = no_stop_warnings([record("stop"), record("length")], stops, "<|im_end|>")
    assert warning.code == "W_NO_STOP"
    assert warning.detail == {
        "share": 0.5,
        "config_eos": [1],
        "generation_config_eos": [2],
        "tokenizer_eos": [3],
        "template_end_of_turn": "<|im_end|>",
    }


@pytest.mark.parametrize(
    ("heads", "kv_heads", "gpus", "size"),
    [
        (14, 2, 4, 2),
        (12, 2, 8, 4),
        (32, 8, 8, 8),
        (32, 8, 6, 4),
        (9, 3, 8, 1),
        (12, 3, 4, 1),
        (28, 4, 2, 2),
        (16, 16, 0, 1),
    ],
)
def test_tensor_parallel_divides_the_heads(heads: int, kv_heads: int, gpus: int, size: int) -> None:
    assert tensor_parallel_size(heads, kv_heads, gpus) == size


class Task:
    protocol = "toy/1"

    def __init__(self, items: Any = (), metrics: Any = None) -> None:
        self._items, self._metrics = items, metrics

    def items(self, held_out: Path) -> Sequence[Item]:
        if isinstance(self._items, Exception):
            raise self._items
        return list(self._items)

    def episode(self, item: Item) -> Any: ...

    def metrics(self, records: Sequence[Record]) -> Metrics:
        if isinstance(self._metrics, Exception):
            raise self._metrics
        return self._metrics  # type: ignore[no-any-return]


def items_of(items: Any, held_out: Path = Path(), **told: Any) -> list[str]:
    spec = RunnerSpec("toy/1", "", str(held_out), "", "", **told)
    return [item.id for item in checked_items(Task(items), spec)]


ABC = [Item(name, {}) for name in "abc"]


@pytest.mark.parametrize("items", [[], [Item("a", {}), Item("a", {})], OSError("gone")])
def test_items_that_cannot_be_graded(items: Any) -> None:
    with pytest.raises(InfraFault, match="I_EVALUATOR"):
        items_of(items)


def test_a_limit_takes_the_first_items() -> None:
    assert items_of(ABC, limit=2, held_out_items=3) == ["a", "b"]


def test_fewer_items_than_the_task_declares_are_no_score() -> None:
    for limit in (None, 2):
        with pytest.raises(InfraFault, match=r"I_HELD_OUT.*3 held-out items; the task declares 4"):
            items_of(ABC, limit=limit, held_out_items=4)


def test_held_out_files_that_changed_since_they_were_prepared_are_no_score(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("1\n2\n3\n")
    prepared = held_out_digest(tmp_path)
    assert items_of(ABC, tmp_path, held_out_sha256=prepared) == ["a", "b", "c"]
    rows.write_text("1\n2\n")
    with pytest.raises(InfraFault, match="I_HELD_OUT"):
        items_of(ABC, tmp_path, held_out_sha256=prepared)
    rows.unlink()
    with pytest.raises(InfraFault, match="I_HELD_OUT"):
        items_of(ABC, tmp_path, held_out_sha256=prepared)


@pytest.mark.parametrize(
    "metrics",
    [Metrics(101.0), Metrics(-1.0), Metrics(float("nan")), Metrics(1.0, {"x": float("inf")}), ZeroDivisionError("n")],
)
def test_impossible_scores(metrics: Any) -> None:
    with pytest.raises(InfraFault, match="I_EVALUATOR"):
        checked_metrics(Task(metrics=metrics), [record("stop")], 1)


def test_fewer_samples_than_items_have_no_score() -> None:
    with pytest.raises(InfraFault, match=r"I_INCOMPLETE.*1 of 2"):
        checked_metrics(Task(metrics=Metrics(50.0)), [record("stop")], 2)


def test_a_task_folder_is_a_package_to_its_evaluator(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("NAME = 'toy/1'\n")
    (tmp_path / "evaluator.py").write_text(
        "from . import helper\nclass T:\n    protocol = helper.NAME\ndef evaluator():\n    return T()\n"
    )
    assert load_evaluator(tmp_path, "toy/1").protocol == "toy/1"
    with pytest.raises(InfraFault, match="I_PROTOCOL"):
        load_evaluator(tmp_path, "toy/2")


@pytest.mark.parametrize("code", [None, "1/0", "def other(): ...", "def evaluator():\n    raise KeyError('x')"])
def test_an_evaluator_that_does_not_load(code: str | None, tmp_path: Path) -> None:
    if code is not None:
        (tmp_path / "evaluator.py").write_text(code)
    with pytest.raises(InfraFault, match="I_EVALUATOR"):
        load_evaluator(tmp_path, "toy/1")
