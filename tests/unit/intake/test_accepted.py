"""Honest checkpoints pass, and what comes back can be relied on."""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grading.intake import BaseFacts, BaseModelFault, base_facts
from grading.intake import codes as intake_codes
from grading.intake.snapshot import incoming_folder
from grading.intake.take import host_fault
from tests.unit.intake.conftest import Bench, Made
from tests.unit.intake.edits import edit_json, edit_weights


@pytest.mark.parametrize("source", ["trained", "sharded"])
def test_a_trained_checkpoint_passes_without_a_finding(bench: Bench, source: str) -> None:
    bench.put(source)
    report = bench.take()
    assert report.findings == ()
    assert report.accepted
    assert not report.equals_base
    assert report.distance is not None
    assert report.distance.changed == report.distance.tensors == len(bench.base.tensors)
    assert 0.03 < report.distance.relative_l2 < 0.07


def test_an_untied_checkpoint_passes(untied_bench: Bench) -> None:
    untied_bench.put("untied_trained")
    assert untied_bench.take().findings == ()


def test_the_snapshot_is_the_graded_files_read_only_and_hashed(bench: Bench) -> None:
    folder = bench.put()
    (folder / "trainer_state.json").write_text("{}")
    (folder / "runs").mkdir()
    report = bench.take()
    assert report.snapshot == bench.store / str(report.digest)
    kept = {each.name for each in report.snapshot.iterdir()}
    assert kept == {each.name for each in report.files}
    assert kept == set(os.listdir(bench.made / "trained")) - {"chat_template.jinja"}
    assert set(report.ignored) == {"trainer_state.json", "runs/", "chat_template.jinja"}
    for each in report.files:
        copy = report.snapshot / each.name
        assert hashlib.sha256(copy.read_bytes()).hexdigest() == each.sha256
        assert copy.stat().st_size == each.bytes
        assert copy.stat().st_mode & 0o222 == 0
    assert report.bytes == sum(each.bytes for each in report.files)


def test_identical_submissions_share_one_snapshot_whatever_path_and_time(bench: Bench) -> None:
    first_folder = bench.put(name="a")
    second_folder = bench.put(name="deep")
    os.utime(second_folder / "config.json", (1, 1))
    second_folder.rename(bench.workspace / "b")
    first, second = bench.take("a"), bench.take("/workspace/b/")
    assert first.digest == second.digest
    assert first.snapshot == second.snapshot
    assert len(list(bench.store.iterdir())) == 1
    edit_json(first_folder / "config.json", pad_token_id=3)
    assert bench.take("a").digest != first.digest


def test_the_weights_digest_does_not_depend_on_sharding(bench: Bench) -> None:
    bench.put("trained", "whole")
    bench.put("sharded", "sharded")
    whole, sharded = bench.take("whole"), bench.take("sharded")
    assert whole.weights_digest == sharded.weights_digest
    assert whole.digest != sharded.digest


def test_the_base_itself_is_recognised_through_its_mount_and_as_a_copy(bench: Bench) -> None:
    bench.put("base", "copy")
    for path in ("models/tiny", "copy"):
        report = bench.take(path)
        assert report.equals_base
        assert [each.code for each in report.findings] == ["W_EQUALS_BASE"]
        assert report.findings[0].detail["changed_share"] == 0
        assert report.weights_digest == bench.base.weights_digest


def test_the_base_with_a_stored_copy_of_its_tied_head_is_still_the_base(bench: Bench) -> None:
    folder = bench.put("base")
    edit_weights(folder, lambda state: {**state, "lm_head.weight": state["model.embed_tokens.weight"].clone()})
    assert bench.take().equals_base


def test_the_base_in_float32_is_still_the_base(bench: Bench) -> None:
    folder = bench.put("base")
    edit_weights(folder, lambda state: {name: tensor.float() for name, tensor in state.items()})
    report = bench.take()
    assert report.equals_base
    assert [each.code for each in report.findings] == ["W_EQUALS_BASE", "W_DTYPE"]


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("generation_config.json", {"eos_token_id": 5}),
        ("tokenizer_config.json", {"eos_token": "a"}),
        ("config.json", {"max_position_embeddings": 64}),
    ],
)
def test_base_weights_with_other_settings_are_graded_and_warned_of(
    bench: Bench, file: str, change: dict[str, object]
) -> None:
    edit_json(bench.put("base") / file, **change)
    report = bench.take()
    assert not report.equals_base
    assert [each.code for each in report.findings] == ["W_EQUALS_BASE"]


def test_the_base_plus_a_little_noise_is_warned_of(bench: Bench) -> None:
    def nudge(state: dict[str, object]) -> None:
        norm = state["model.norm.weight"]
        norm[0] *= 1 + 2**-7  # type: ignore[index]

    edit_weights(bench.put("base"), nudge)
    report = bench.take(near_base=1e-2)
    assert not report.equals_base
    assert [each.code for each in report.findings] == ["W_EQUALS_BASE"]
    assert report.distance is not None
    assert report.distance.changed == 1
    assert 0 < report.distance.relative_l2 < 1e-2
    assert bench.take(near_base=report.distance.relative_l2 / 2).findings == ()


def test_the_distance_is_the_one_that_torch_computes(bench: Bench) -> None:
    from safetensors.torch import load_file

    bench.put()
    base = load_file(bench.made / "base/model.safetensors")
    ours = load_file(bench.made / "trained/model.safetensors")
    squares = sum(float((ours[name].double() - base[name].double()).square().sum()) for name in base)
    norm = sum(float(base[name].double().square().sum()) for name in base)
    distance = bench.take().distance
    assert distance is not None
    assert distance.relative_l2 == pytest.approx((squares / norm) ** 0.5, rel=1e-5)


def test_a_float16_base_is_compared_too(bench: Bench, made: Made) -> None:
    half = bench.put("base", "half")
    edit_weights(half, lambda state: {name: tensor.half() for name, tensor in state.items()})
    bench.base = base_facts(half)
    edit_weights(bench.put(), lambda state: {name: tensor.half() for name, tensor in state.items()})
    report = bench.take()
    assert report.findings == ()
    assert report.distance is not None
    assert 0.03 < report.distance.relative_l2 < 0.07


def test_base_facts_survive_json_and_notice_a_changed_folder(bench: Bench) -> None:
    folder = bench.put("base")
    facts = base_facts(folder)
    again = BaseFacts.from_dict(json.loads(json.dumps(facts.as_dict())))
    assert again == facts
    assert again.is_current()
    os.utime(folder / "config.json", (1, 1))
    assert not again.is_current()


def test_a_base_that_is_none_is_the_operators_fault(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(BaseModelFault, match="No such file"):
        base_facts(tmp_path / "absent")
    folder = bench.put("base")
    (folder / "model.safetensors").unlink()
    with pytest.raises(BaseModelFault, match=r"no \*\.safetensors"):
        base_facts(folder)


def test_hard_links_are_copied_not_shared(bench: Bench) -> None:
    folder = bench.put()
    os.link(folder / "model.safetensors", bench.workspace / "elsewhere")
    report = bench.take()
    assert report.findings == ()
    assert report.snapshot is not None
    assert (report.snapshot / "model.safetensors").stat().st_nlink == 1


def test_what_a_killed_worker_left_in_the_store_is_removed_in_time(bench: Bench) -> None:
    old, young = bench.store / ".incoming-old", bench.store / ".incoming-young"
    for each in (old, young):
        each.mkdir(parents=True)
    day_ago = time.time() - 86400
    os.utime(old, (day_ago, day_ago))
    with incoming_folder(bench.store) as mine:
        assert mine.exists()
    assert not old.exists()
    assert not mine.exists()
    assert young.exists()


def test_who_comes_again_removes_at_once_what_its_killed_worker_left_and_nothing_else(bench: Bench) -> None:
    left, *others = [bench.store / f".incoming-{name}" for name in ("1-abc", "12-abc", "abc")]
    for each in (left, *others):
        each.mkdir(parents=True)
    with incoming_folder(bench.store, "1") as folder:
        assert folder.exists()
        assert not left.exists()
    assert all(each.exists() for each in others)


def test_a_damaged_snapshot_is_replaced(bench: Bench) -> None:
    bench.put()
    snapshot = bench.take().snapshot
    assert snapshot is not None
    (snapshot / "config.json").unlink()
    assert bench.take_leaving_rubbish().snapshot == snapshot
    assert (snapshot / "config.json").exists()


def test_a_base_config_of_version_4_fits_a_checkpoint_saved_by_version_5(bench: Bench) -> None:
    base = bench.put("base", "hub")
    edit_json(
        base / "config.json",
        rope_parameters=None,
        rope_theta=500000.0,
        rope_scaling=None,
        dtype=None,
        torch_dtype="bfloat16",
        head_dim=None,
        attention_bias=None,
        tie_word_embeddings=True,
        sliding_window=32768,
        use_sliding_window=False,
    )
    bench.base = base_facts(base)
    bench.put()
    assert bench.codes() == []
    bench.put("base", "again")
    assert bench.take("again").equals_base


def test_the_intake_loads_neither_django_nor_a_gpu_library() -> None:
    code = "import sys, grading.intake; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"django", "torch", "transformers", "safetensors", "vllm"} & set(loaded)
    assert "numpy" in loaded


def test_every_code_has_a_fix_and_every_fix_a_use() -> None:
    folder = Path(intake_codes.__file__).parent
    source = "".join(file.read_text() for file in folder.glob("*.py") if file.name != "codes.py")
    used = set(re.findall(r'"([EWI]_[A-Z_]+(?::[a-z_]+)?)"', source))
    assert used == set(intake_codes.FIXES)


def test_a_full_disk_is_told_from_other_faults() -> None:
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(OSError, match="No space") as caught:
        full.write(b"x")
    assert host_fault(caught.value).code == "I_DISK"
    assert host_fault(OSError(5, "Input/output error")).code == "I_IO"
