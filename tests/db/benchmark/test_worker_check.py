"""A worker that could not work says so before it takes anything."""

from pathlib import Path
from typing import Any

import pytest

from benchmark.services.protocols import engine_in_force
from benchmark.services.worker_check import worker_problems

pytestmark = pytest.mark.django_db


def problems(settings: Any, **given: Any) -> str:
    settings.SANDBOX = "process"
    for name, value in given.items():
        setattr(settings, name, value)
    return "\n".join(worker_problems({"default", "agents"}))


def test_more_gpus_than_there_are(settings: Any) -> None:
    told = problems(settings, GPUS=["0", "1"], AGENT_SLOTS=3, RUN_GPUS=1.0)
    assert "AGENT2_AGENT_SLOTS times AGENT2_RUN_GPUS is 3, and AGENT2_GPUS has 2" in told


@pytest.mark.parametrize("gpus", [["all"], [], ["0", "1", "2"]])
def test_enough_gpus(settings: Any, gpus: list[str]) -> None:
    assert "AGENT2_GPUS" not in problems(settings, GPUS=gpus, AGENT_SLOTS=3, RUN_GPUS=1.0)


def test_a_folder_to_show_that_is_not_there(settings: Any, tmp_path: Path) -> None:
    told = problems(settings, SANDBOX_READ_ONLY=[tmp_path, tmp_path / "no", Path("some/where")])
    assert f"AGENT2_SANDBOX_READ_ONLY: no absolute path of this host: {tmp_path / 'no'}, some/where." in told


def test_a_data_folder_that_cannot_be_made(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "set AGENT2_DATA_DIR" in problems(settings, DATA_DIR=tmp_path / "file" / "data")


def test_batch_invariance_without_a_gpu_for_it(settings: Any) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    settings.SANDBOX, settings.BATCH_INVARIANT = "process", True
    assert "AGENT2_BATCH_INVARIANT=1 needs an NVIDIA GPU" in "\n".join(worker_problems({"grading"}))
    settings.BATCH_INVARIANT = False
    assert "AGENT2_BATCH_INVARIANT" not in "\n".join(worker_problems({"grading"}))


def test_batch_invariance_is_another_engine(settings: Any) -> None:
    settings.ENGINE, settings.DEVICE, settings.DTYPE = "vllm", "cuda", "bfloat16"
    assert engine_in_force() == "vllm/cuda/bfloat16"
    settings.BATCH_INVARIANT = True
    assert engine_in_force() == "vllm/cuda/bfloat16/batch-invariant"
