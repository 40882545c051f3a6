"""vLLM and transformers give the same completions for the same spec, turn by turn."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grading.contract import RunnerSpec
from tests.journeys.runner.conftest import ROOT, finish, samples, start
from tests.unit.runner.checkpoints import llama, save

PYTHON = Path(os.environ.get("AGENT2_VLLM_PYTHON", ROOT / ".venv-vllm" / "bin" / "python"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.vllm,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not PYTHON.exists(), reason="no Python with vLLM: name one in AGENT2_VLLM_PYTHON"),
]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = llama(hidden_size=128, num_attention_heads=2, num_key_value_heads=1)
    return save(tmp_path_factory.mktemp("vllm"), model)


def test_both_engines_agree(checkpoint: Path, make_spec: Callable[..., RunnerSpec], tmp_path: Path) -> None:
    spec = make_spec(checkpoint=str(checkpoint), reference=str(checkpoint))
    ours, theirs = tmp_path / "transformers", tmp_path / "vllm"
    expected, _ = finish(start(spec, ours), ours)
    verdict, events = finish(start(replace(spec, engine="vllm"), theirs, python=str(PYTHON)), theirs, timeout=800)
    assert verdict["finding"] is None
    assert samples(theirs) == samples(ours)
    assert verdict["score"] == expected["score"]
    assert verdict["versions"]["engine"] == "vllm"
    assert verdict["versions"]["vllm"]
    assert verdict["sampling"]["temperature"] == 0
    assert [e["phase"] for e in events if e["event"] == "phase"] == ["loading", "probing", "generating", "scoring"]


def test_a_diverged_model_is_refused(checkpoint: Path, make_spec: Callable[..., RunnerSpec], tmp_path: Path) -> None:
    import torch

    model = llama(hidden_size=128, num_attention_heads=2, num_key_value_heads=1)
    with torch.no_grad():
        model.model.layers[0].mlp.up_proj.weight[3, 3] = float("nan")
    broken = save(tmp_path / "broken", model)
    spec = make_spec(checkpoint=str(broken), reference=str(checkpoint), engine="vllm")
    out = tmp_path / "out"
    verdict, _ = finish(start(spec, out, python=str(PYTHON)), out, timeout=800)
    assert (verdict["finding"]["code"], verdict["fault"], verdict["score"]) == ("E_NONFINITE", "artifact", None)
