"""vLLM and transformers give the same completions for the same spec, turn by turn, and so does a server of vLLM's."""

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from benchmark.gateway.process import Gateway
from grading.contract import RunnerSpec
from grading.outside.endpoint import Endpoint, EndpointSettings
from tests.journeys.runner.conftest import ROOT, finish, samples, start
from tests.support.platform import free_port
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


def test_common_beginnings_are_computed_once_and_the_engine_starts_once(
    checkpoint: Path, make_spec: Callable[..., RunnerSpec], tmp_path: Path
) -> None:
    """Seen by vLLM's own counters: episodes of two turns whose first 200 letters are the same."""
    held_out = tmp_path / "held_out"
    held_out.mkdir()
    rows = [{"id": f"item-{n}", "turns": 2, "ask": "why so? " * 25 + str(n)} for n in range(12)]
    (held_out / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = make_spec(checkpoint=str(checkpoint), reference=str(checkpoint), held_out=str(held_out), engine="vllm")
    out = tmp_path / "out"
    stdout, stderr = start(spec, out, python=str(PYTHON), VLLM_LOGGING_LEVEL="INFO").communicate(timeout=800)
    verdict = json.loads((out / "verdict.json").read_text())
    assert verdict["finding"] is None, stderr[-3000:]
    assert verdict["n_scored"] == 12
    assert verdict["metrics"]["prefix_cache_hit_percent"] > 30
    assert len(re.findall(r"Initializing an? (?:V1 )?LLM engine", stdout + stderr)) == 1


@pytest.fixture(scope="module")
def server(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of `vllm serve` of the checkpoint, which calls itself `served`."""
    port, log = free_port(), tmp_path_factory.mktemp("serve") / "log"
    options = ["--model", str(checkpoint), "--served-model-name", "served", "--dtype", "float32", "--enforce-eager"]
    command = [str(PYTHON), "-m", "vllm.entrypoints.openai.api_server", *options]
    with log.open("w") as out:
        serving = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port), "--max-num-seqs", "6"],
            stdout=out,
            stderr=out,
            env={**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "OMP_NUM_THREADS": "1", "VLLM_NO_USAGE_STATS": "1"},
        )
    try:
        deadline = time.monotonic() + 600
        while not _answers(f"http://127.0.0.1:{port}/health"):
            assert serving.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < deadline
            time.sleep(1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        serving.terminate()
        serving.wait(180)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=30).status_code == 200
    except httpx.TransportError:
        return False


def test_a_server_gives_the_texts_of_the_engine_in_this_process(
    server: str, checkpoint: Path, make_spec: Callable[..., RunnerSpec], tmp_path: Path
) -> None:
    spec = make_spec(checkpoint=str(checkpoint), reference=str(checkpoint), limit=20, engine="vllm")
    here, there, socket = tmp_path / "here", tmp_path / "there", tmp_path / "outside.sock"
    finish(start(spec, here, python=str(PYTHON)), here, timeout=800)
    endpoint = Endpoint(EndpointSettings(url=server, model="served"), "completions")
    with Gateway(socket=socket, routes=[endpoint.route()]):
        elsewhere = replace(spec, engine="openai", endpoint="served", outside=str(socket))
        verdict, _ = finish(start(elsewhere, there), there, timeout=800)
    assert verdict["finding"] is None
    assert len(samples(here)) == 20
    assert samples(there) == samples(here)
    assert (verdict["versions"]["decoding"], verdict["versions"]["api"]) == ("token ids", "completions")
    assert endpoint.counts.calls == 1 + sum(len(sample["outputs"]) for sample in samples(there))
