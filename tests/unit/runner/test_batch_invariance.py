"""Batch-invariant grading is refused where vLLM has no such mode, before anything is loaded."""

from pathlib import Path

import pytest

from grading.contract import RunnerSpec
from grading.runner.engines.starting import start_engine
from grading.runner.engines.vllm_engine import require_batch_invariance
from grading.runner.faults import InfraFault
from grading.runner.subject import open_subject
from tests.unit.runner.checkpoints import llama, save


@pytest.mark.parametrize("capability", [(8, 0), (9, 0), (10, 3)])
def test_gpus_that_have_the_mode(capability: tuple[int, int]) -> None:
    require_batch_invariance(capability)


@pytest.mark.parametrize(("capability", "told"), [((7, 5), "one of 7.5"), (None, "no NVIDIA GPU")])
def test_gpus_that_have_not(capability: tuple[int, int] | None, told: str) -> None:
    with pytest.raises(InfraFault, match=told) as caught:
        require_batch_invariance(capability)
    assert caught.value.finding.code == "I_ENGINE"
    assert "AGENT2_BATCH_INVARIANT=0" in caught.value.finding.fix


def test_a_machine_without_gpu_refuses_at_start(tmp_path: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    folder = str(save(tmp_path / "model", llama()))
    spec = RunnerSpec("toy/1", "", "", folder, folder, engine="vllm", device="cuda", batch_invariant=True)
    subject, _ = open_subject(spec)
    with pytest.raises(InfraFault, match="batch-invariant grading needs an NVIDIA GPU"):
        start_engine(spec, subject.checkpoint, subject.decoder, subject.context)
