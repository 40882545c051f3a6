"""Pieces of recording that need no database."""

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmark.models import secret_hash, secret_new
from benchmark.sandbox.contract import Running, Usage
from benchmark.services.gpus import gpus_told
from traces.services import sampling
from traces.services.label_process import LabellerFailed, label_apart
from traces.services.labels_commands import command_lines
from traces.services.recording_sealing import prefix_digest, tokens_in_file
from traces.services.recording_times import LogTimes, lines_within
from traces.services.recording_workspace import WorkspaceWatch, summary_of
from traces.services.sampling import Sampler, own_group
from traces.services.snapshots_store import blob_put, code_store


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"command": "python a.py"}, ["python a.py"]),
        ({"cmd": ["bash", "-lc", "python a.py && ls"]}, ["python a.py && ls"]),
        ({"command": ["python", "a.py"]}, ["python a.py"]),
        ("ls", ["ls"]),
        ({"path": "a.py", "content": "x"}, []),
        ({"command": ""}, []),
        ({"command": {"a": 1}}, []),
        (None, []),
        ([1], []),
    ],
)
def test_commands_of_tool_calls(arguments: Any, told: list[str]) -> None:
    assert list(command_lines(arguments)) == told


def test_a_line_arrived_when_the_look_that_saw_its_end_was_made() -> None:
    times = LogTimes((10, 30), (1, 4), (100.0, 102.0))
    assert [at and at.timestamp() for at in map(times.at_line, (1, 2, 4, 5))] == [100.0, 102.0, 102.0, None]
    assert [at and at.timestamp() for at in map(times.at_byte, (9, 10, 30))] == [100.0, 102.0, None]


def test_lines_before_a_byte_are_counted_from_the_nearest_look(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a\nbb\nccc\ndddd\n")
    times = LogTimes((5,), (2,), (1.0,))
    assert [lines_within(path, size, times) for size in (0, 1, 2, 5, 8, 9, 99)] == [0, 0, 1, 2, 2, 3, 4]


def test_a_prefix_digest_sees_a_change(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\ntwo\n")
    before = prefix_digest(path, 4)
    path.write_bytes(b"one\nthree\n")
    assert prefix_digest(path, 4) == before
    path.write_bytes(b"ONE\nthree\n")
    assert prefix_digest(path, 4) != before


def test_a_token_across_two_blocks_is_found(tmp_path: Path) -> None:
    token, path = secret_new(), tmp_path / "log"
    path.write_bytes(b" " * ((1 << 20) - 20) + token.encode() + b" \n")
    assert tokens_in_file(path, secret_hash(token)) == (token,)
    assert tokens_in_file(path, secret_hash("another")) == ()


def test_the_workspace_is_counted_without_what_the_platform_put_there(tmp_path: Path) -> None:
    for name in ("output/v1/model.safetensors", "models/base/model.safetensors", "data/x.py", "code/a.py", "b.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "output" / "link").symlink_to("/etc")
    watch = WorkspaceWatch(tmp_path)
    watch.look()
    (tmp_path / "output/v1/model.safetensors").rename(tmp_path / "output/model.safetensors")
    watch.look()
    assert (watch.code_files, len(watch.weights)) == (2, 2)


def test_the_agents_summary_is_read_masked_and_its_bad_lines_are_said(tmp_path: Path) -> None:
    token = secret_new()
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "summary.md").write_text(f"# Did it\n{token}\n")
    (tmp_path / "summary.jsonl").write_text('{"iteration": 1, "score": NaN}\n[]\n\n{"a"\n')
    summary = summary_of(tmp_path, secret_hash(token))
    assert token not in summary.text
    assert summary.entries == ({"iteration": 1, "score": None},)
    assert summary.notes == ("2 lines of summary.jsonl are no JSON objects and were left out",)


def test_what_a_database_cannot_hold_in_a_summary_is_replaced_or_left_out(tmp_path: Path) -> None:
    deep = '{"a": ' + "[" * 900 + "]" * 900 + "}"
    (tmp_path / "summary.jsonl").write_text('{"a\\u0000": ["b\\ud800", 1e999]}\n' + deep)
    summary = summary_of(tmp_path, "")
    assert summary.entries == ({"a\ufffd": ["b\ufffd", "inf"]},)
    assert len(summary.notes) == 1


def test_a_summary_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "summary.md").symlink_to("/etc/passwd")
    (tmp_path / "reports").symlink_to("/etc")
    assert summary_of(tmp_path, "").text == ""


def test_gpus_as_nvidia_smi_tells_them() -> None:
    first, second = gpus_told("0, 87, 40321, 143771, 612.34\n1, [N/A], 3, 143771, [N/A]\nNo devices were found\n")
    assert first == {
        "index": 0,
        "percent": 87.0,
        "memory_bytes": 40321 << 20,
        "memory_total": 143771 << 20,
        "watts": 612.34,
    }
    assert (second["percent"], second["watts"], second["memory_bytes"]) == (None, None, 3 << 20)


def known(pid: int | None = None, told: Usage | None = None) -> Running:
    """A command of which only these are known."""
    return cast(Running, SimpleNamespace(root_pid=pid, usage=lambda: told))


def test_this_process_is_measured(tmp_path: Path) -> None:
    sampler = Sampler(1, tmp_path, known(os.getpid()))
    at = time.monotonic()
    first = sampler._used()
    began = time.process_time()
    while time.process_time() - began < 0.2:
        pass
    second = sampler._used()
    assert first["cpus"] is None
    assert 0.15 / (time.monotonic() - at) < second["cpus"] < 4
    assert second["memory_bytes"] > 10 << 20
    assert second["processes"] >= 1


def test_a_process_that_is_gone_is_unknown_not_zero(tmp_path: Path) -> None:
    assert Sampler(1, tmp_path, known(2**22 + 1))._used() == {}
    assert Sampler(1, tmp_path, known())._used() == {}
    assert Sampler(1, tmp_path)._used() == {}
    assert Sampler(1, tmp_path, known(told=Usage()))._used()["memory_bytes"] is None
    assert own_group(os.getpid()) is None
    assert own_group(2**22 + 1) is None


def test_what_an_engine_counts_is_taken_over_what_is_seen(tmp_path: Path) -> None:
    sampler = Sampler(1, tmp_path, known(os.getpid(), Usage(cpu_s=10.0, memory_bytes=5, processes=2)))
    assert sampler._used() == {"processes": 2, "memory_bytes": 5, "cpus": None}
    sampler._at -= 4
    sampler.running = known(os.getpid(), Usage(cpu_s=16.0, memory_bytes=6, processes=3))
    assert sampler._used()["cpus"] == pytest.approx(1.5, rel=0.01)


def test_the_counters_of_a_control_group(tmp_path: Path) -> None:
    (tmp_path / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\nsystem_usec 1\n")
    assert sampling.cpu_of_group(tmp_path) == 2.5


def judged(settings: Any, tmp_path: Path, **files: str) -> dict[str, Any]:
    settings.TRACES_DIR = tmp_path
    stored = {name.replace("_py", ".py"): blob_put(text.encode()) for name, text in files.items()}
    return label_apart(
        files=stored, store=code_store(), commands=[], model_path="output/v1", base_model_path="models/base"
    )


def test_the_labeller_runs_apart_and_reports(settings: Any, tmp_path: Path) -> None:
    code = "from trl import SFTTrainer\nt = SFTTrainer('m')\nt.train()\nt.save_model('output/v1')\n"
    report = judged(settings, tmp_path, train_py=code)
    assert report["methods"] == ["SFT"]
    assert report["findings"][0]["file"] == "train.py"


def test_a_labeller_that_dies_is_a_failure_that_says_so(settings: Any, tmp_path: Path) -> None:
    settings.TRACES_DIR = tmp_path
    with pytest.raises(LabellerFailed, match="without a report"):
        label_apart(files={"a.py": "0" * 64}, store=tmp_path, commands=[], model_path="x", base_model_path="")
