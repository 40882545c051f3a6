"""Whatever an agent writes, the intake answers with findings and never with an exception."""

import json
import os
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grading.intake.codes import Refused
from grading.intake.headers import DTYPE_BITS, header_tensors
from grading.intake.json_files import NotJson, json_object
from tests.unit.intake.conftest import Bench
from tests.unit.intake.edits import raw_safetensors

FEW = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
MANY = settings(max_examples=150, deadline=None)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)
sizes = st.integers(-1, 70) | st.integers(1 << 62, 1 << 66)
tensors = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from([*DTYPE_BITS, "Q8", ""]),
        "shape": st.lists(sizes, max_size=4),
        "data_offsets": st.lists(sizes, min_size=1, max_size=3),
    }
)
parts = st.sampled_from(
    ["ckpt", "..", ".", "", "models", "tiny", "loop", "out", "a", "config.json", "workspace", "opt"]
)


@MANY
@given(st.dictionaries(st.text(max_size=8), tensors | json_values, max_size=5))
def test_headers_are_covered_exactly_or_refused(header: dict[str, Any]) -> None:
    try:
        found, finding = header_tensors("model.safetensors", header, data_start=100), None
    except Refused as refusal:
        found, finding = {}, refusal.finding
    if finding is not None:
        assert finding.code == "E_SAFETENSORS"
        json.dumps(finding.as_dict(), allow_nan=False)
    at = 100
    for tensor in found.values():
        assert tensor.start == at
        assert (tensor.end - tensor.start) * 8 == tensor.elements * DTYPE_BITS[tensor.dtype]
        at = tensor.end


@MANY
@given(st.binary(max_size=60) | json_values.map(lambda value: json.dumps(value).encode()))
def test_bytes_are_an_object_or_refused(data: bytes) -> None:
    with suppress(NotJson):
        assert json.dumps(json_object(data, unique_keys=True)) == json.dumps(json.loads(data))


@FEW
@given(data=st.binary(max_size=200) | st.dictionaries(st.text(max_size=8), tensors, max_size=3).map(raw_safetensors))
def test_any_weights_file(bench: Bench, data: bytes) -> None:
    folder = bench.workspace / "ckpt"
    if not folder.exists():
        bench.put()
    (folder / "model.safetensors").write_bytes(data)
    assert bench.take().refused


@FEW
@given(
    changes=st.dictionaries(st.sampled_from(["config.json", "tokenizer.json", "tokenizer_config.json"]), json_values)
)
@pytest.mark.parametrize("seed", ["model_type", "rope_parameters"])
def test_any_json_files(bench: Bench, seed: str, changes: dict[str, Any]) -> None:
    folder = bench.workspace / "ckpt"
    if not folder.exists():
        bench.put()
    for file, value in changes.items():
        original = json.loads((bench.made / "trained" / file).read_text())
        keys = sorted(original)
        wrapped = {**original, keys[len(str(value)) % len(keys)]: value, seed: value}
        (folder / file).write_text(json.dumps(wrapped))
    bench.take()


@settings(FEW, max_examples=150)
@given(path=st.lists(parts, max_size=8).map("/".join) | st.text(max_size=30), absolute=st.booleans())
def test_any_path_leads_to_the_checkpoint_or_is_refused(bench: Bench, path: str, absolute: bool) -> None:
    if not (bench.workspace / "ckpt").exists():
        bench.put()
        (bench.workspace / "loop").symlink_to("/workspace/models/../loop/a")
        (bench.workspace / "out").symlink_to("../../opt/tools")
        (bench.workspace / "a").symlink_to("/workspace/./ckpt")
        (bench.outside / "config.json").write_text("{}")
    report = bench.take(("/workspace/" if absolute else "") + path)
    assert report.refused or report.digest in set(os.listdir(bench.store))
    assert report.refused == (report.snapshot is None)
    assert all(each.message.isprintable() for each in report.findings)
