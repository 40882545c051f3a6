"""Folders that hold something else than a model: entries 1, 2, 12, 34, and odd files."""

import os
import shutil
import socket
from pathlib import Path

import pytest

from tests.unit.intake.conftest import Bench
from tests.unit.intake.edits import edit_json


def adapter_folder(folder: Path) -> Path:
    """What trainer.save_model() leaves for a PEFT model."""
    import torch
    from safetensors.torch import save_file

    folder.mkdir()
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA", "base_model_name_or_path": "models/tiny"}')
    name = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"
    save_file({name: torch.zeros(4, 32)}, folder / "adapter_model.safetensors")
    (folder / "README.md").write_text("adapter")
    return folder


def test_1_adapter_only(bench: Bench) -> None:
    adapter_folder(bench.workspace / "ckpt")
    report = bench.take()
    assert [each.code for each in report.findings] == ["E_ADAPTER_ONLY"]
    assert "adapter_config.json" in report.findings[0].message
    assert "merge_and_unload()" in report.findings[0].fix


def test_an_adapter_beside_full_weights_is_not_applied(bench: Bench) -> None:
    shutil.copytree(adapter_folder(bench.workspace / "adapter"), bench.put(), dirs_exist_ok=True)
    report = bench.take()
    assert [each.code for each in report.findings] == ["W_ADAPTER_IGNORED"]
    assert report.snapshot is not None
    assert not list(report.snapshot.glob("adapter*"))


def test_2_no_config(bench: Bench) -> None:
    folder = bench.workspace / "ckpt"
    (folder / "global_step100").mkdir(parents=True)
    bench.put(name="ckpt/checkpoint-500")
    for name in ("optimizer.pt", "zero_to_fp32.py", "latest"):
        (folder / name).write_text("x")
    report = bench.take()
    assert [each.code for each in report.findings] == ["E_NO_CONFIG", "E_REMOTE_CODE"]
    message = report.findings[0].message
    for expected in ("optimizer.pt", "zero_to_fp32.py", "global_step100/", "checkpoint-500/"):
        assert expected in message
    assert bench.take("ckpt/checkpoint-500").accepted


def test_config_without_weights(bench: Bench) -> None:
    (bench.put() / "model.safetensors").unlink()
    assert bench.codes() == ["E_NO_WEIGHTS"]


def test_weights_under_another_name(bench: Bench) -> None:
    folder = bench.put()
    (folder / "model.safetensors").rename(folder / "final.safetensors")
    report = bench.take()
    assert [each.code for each in report.findings] == ["E_NO_WEIGHTS"]
    assert "model.safetensors" in report.findings[0].message


@pytest.mark.parametrize("name", ["pytorch_model.bin", "pytorch_model-00001-of-00002.bin", "model.pt", "last.ckpt"])
def test_12_pickled_weights_are_refused_unopened(bench: Bench, name: str) -> None:
    folder = bench.put()
    (folder / "model.safetensors").rename(folder / name)
    (folder / name).chmod(0)
    before = (folder / name).stat().st_atime_ns
    report = bench.take()
    assert [each.code for each in report.findings] == ["E_PICKLE"]
    assert name in report.findings[0].message
    assert (folder / name).stat().st_atime_ns == before


def test_pickled_side_files_beside_safetensors_are_ignored(bench: Bench) -> None:
    folder = bench.put()
    side = ["training_args.bin", "optimizer.pt", "scheduler.pt", "rng_state.pth", "pytorch_model.bin"]
    for name in side:
        (folder / name).write_bytes(b"\x80\x04cos\nsystem\n")
    report = bench.take()
    assert report.findings == ()
    assert set(side) <= set(report.ignored)
    assert report.snapshot is not None
    assert not [name for name in side if (report.snapshot / name).exists()]


@pytest.mark.parametrize("name", ["modeling_llama.py", "code/payload.py", "Evil.PY"])
def test_34_python_files(bench: Bench, name: str) -> None:
    file = bench.put() / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("raise SystemExit('ran')")
    report = bench.take()
    assert [each.code for each in report.findings] == ["E_REMOTE_CODE"]
    assert report.findings[0].detail["file"] == name


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_34_auto_map(bench: Bench, file: str) -> None:
    edit_json(bench.put() / file, auto_map={"AutoModelForCausalLM": "modeling_x.X"})
    report = bench.take()
    assert [each.code for each in report.findings] == ["E_REMOTE_CODE"]
    assert file in report.findings[0].message


def test_34_auto_map_deep_inside(bench: Bench) -> None:
    edit_json(bench.put() / "config.json", text_config=[{"inner": {"auto_map": {"AutoConfig": "x.Y"}}}])
    assert bench.codes() == ["E_REMOTE_CODE"]


def test_special_files_are_refused_and_never_opened(bench: Bench) -> None:
    folder = bench.put()
    (folder / "model.safetensors").unlink()
    os.mkfifo(folder / "model.safetensors")
    assert bench.codes() == ["E_SPECIAL_FILE"]
    (folder / "model.safetensors").unlink()
    # The path of a bound socket has at most 108 bytes.
    here = os.getcwd()
    os.chdir(folder)
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("events")
    finally:
        os.chdir(here)
    assert "E_SPECIAL_FILE" in bench.codes()


def test_a_fifo_as_the_submitted_path(bench: Bench) -> None:
    os.mkfifo(bench.workspace / "pipe")
    assert bench.codes("pipe") == ["E_SPECIAL_FILE"]


def test_a_link_to_a_fifo(bench: Bench) -> None:
    folder = bench.put()
    os.mkfifo(bench.workspace / "pipe")
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to("../pipe")
    assert bench.codes() == ["E_SYMLINK"]


@pytest.mark.parametrize("name", [b"line\nbreak.safetensors", b"caf\xe9.safetensors", b"esc\x1b[31m.safetensors"])
def test_odd_names_of_weights(bench: Bench, name: bytes) -> None:
    folder = bench.put()
    shutil.copy(os.fsencode(folder / "model.safetensors"), os.path.join(os.fsencode(folder), name))
    report = bench.take()
    assert [each.code for each in report.findings] == ["E_FILE_NAME"]
    assert report.findings[0].message.isprintable()


def test_odd_names_of_other_files_are_listed_escaped(bench: Bench) -> None:
    folder = bench.put()
    for name in (b"line\nbreak", b"caf\xe9", b"x" * 255):
        Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).write_text("")
    report = bench.take()
    assert report.findings == ()
    assert all(name.isascii() and name.isprintable() and len(name) <= 160 for name in report.ignored)
    assert "line\\nbreak" in report.ignored


def test_too_many_files(bench: Bench) -> None:
    folder = bench.put() / "logs"
    folder.mkdir()
    for at in range(60):
        (folder / str(at)).touch()
    assert bench.codes(entries=50) == ["E_TOO_LARGE"]
    assert bench.codes(entries=100) == []


def test_many_ignored_files_are_listed_shortly(bench: Bench) -> None:
    folder = bench.put()
    for at in range(300):
        (folder / f"log-{at}").touch()
    report = bench.take()
    assert report.findings == ()
    assert len(report.ignored) == 201
    assert report.ignored[-1] == "and 101 more"


def test_several_independent_findings_come_together(bench: Bench) -> None:
    folder = bench.put()
    edit_json(folder / "config.json", num_attention_heads=8, auto_map={"AutoConfig": "x.Y"})
    (folder / "tokenizer.json").unlink()
    (folder / "generation_config.json").write_text("{")
    assert bench.codes() == ["E_REMOTE_CODE", "E_CONFIG_JSON", "E_ARCH", "E_TOKENIZER"]
